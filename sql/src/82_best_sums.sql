-- The whole BM25 (in units of 2^-40) of the most promising of these lessons that may be recalled, best first: of those
-- `most` that have the highest totals so far, or of all. With weights of 1 the cover density of one term is the
-- number of times that it stands in the lesson.
CREATE FUNCTION pgmnemo._best_sums(tenant uuid, ids bigint[], totals float8[], most integer, queries tsquery[], scales float8[],
                                   flat float8, per_token float8, gate text, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', l.lexemes, t.query), flat, per_token, l.token_count)) AS total
      FROM (SELECT h.id FROM (SELECT unnest(ids) AS id, unnest(totals) AS total) h
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = h.id
      JOIN unnest(queries, scales) AS t (query, scale) ON l.lexemes @@ t.query
     WHERE pgmnemo._recallable(l, asked_role, valid_time, gate)
     GROUP BY l.tenant_id, l.id
     ORDER BY total DESC, l.external_id, l.project_id
$$;
