-- The whole BM25 (in units of 2^-40) of the most promising of these lessons that may be recalled, best first: of those
-- `most` that have the highest totals so far, or of all.
CREATE FUNCTION pgmnemo._best_sums(tenant uuid, ids bigint[], totals float8[], most integer, asked pgmnemo.question,
                                   gate text, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, l.total
      FROM (SELECT h.id FROM unnest(ids, totals) AS h (id, total)
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
     CROSS JOIN LATERAL (
            SELECT l.id, l.external_id, l.project_id, b.total
              FROM pgmnemo.lesson l
             CROSS JOIN LATERAL pgmnemo._lesson_sum(
                    l.lexemes, l.token_count, (asked).queries, (asked).scales, (asked).flat, (asked).per_token) b
             WHERE l.tenant_id = tenant AND l.id = h.id
               AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) AS l (id, external_id, project_id, total)
     ORDER BY l.total DESC, l.external_id, l.project_id
$$;
