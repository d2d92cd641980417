-- BM25 of every active lesson in scope that holds a term.
CREATE FUNCTION pgmnemo._keyword_scores(tenant uuid, first_project uuid, last_project uuid, terms text[], idfs float8[],
                                        mean_tokens float8, k1 float8, b float8)
RETURNS TABLE (lesson_id bigint, bm25 float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, sum(pgmnemo._bm25(t.idf, x.frequency, x.tokens, mean_tokens, k1, b))
      FROM unnest(terms, idfs) AS t (term, idf)
      JOIN pgmnemo.posting p ON p.tenant_id = tenant AND p.lexeme = t.term
                            AND p.project_id BETWEEN first_project AND last_project
     CROSS JOIN LATERAL unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
     GROUP BY x.id
$$;
