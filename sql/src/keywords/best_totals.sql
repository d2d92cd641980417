-- Return the whole BM25 (in units of 2^-40) of the most promising of these lessons that are recallable, best first: of
-- the `most` with the highest totals so far; NULL: of all.
CREATE FUNCTION pgmnemo._best_totals(scope pgmnemo.scope, asked pgmnemo.question, ids bigint[], totals float8[],
                                     most integer)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, t.total
      FROM (SELECT h.id FROM (SELECT unnest(ids) AS id, unnest(totals) AS total) h
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
      JOIN pgmnemo.lesson l ON l.tenant_id = (scope).tenant AND l.id = h.id
     CROSS JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, 0, NULL) t
     WHERE pgmnemo._recallable(l, scope)
     ORDER BY t.total DESC, l.external_id, l.project_id
$$;
