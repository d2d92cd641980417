-- What BM25 needs to know of the collection: number of active lessons, their mean length in tokens, and for
-- each term of the query that occurs at all its inverse document frequency.
CREATE FUNCTION pgmnemo._keyword_statistics(tenant uuid, first_project uuid, last_project uuid, query_terms text[])
RETURNS TABLE (lessons float8, mean_tokens float8, terms text[], idfs float8[])
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
AS $$
    WITH counts AS (
        SELECT p.lexeme, sum(p.lesson_count)::float8 AS lessons, sum(p.token_total)::float8 AS tokens
          FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.lexeme = ANY (query_terms || ''::text)
           AND p.project_id BETWEEN first_project AND last_project
         GROUP BY p.lexeme
    ), everything AS (
        SELECT c.lessons, greatest(c.tokens / c.lessons, 1) AS mean_tokens FROM counts c WHERE c.lexeme = ''
    )
    SELECT e.lessons, e.mean_tokens,
           array_agg(c.lexeme) FILTER (WHERE c.lexeme <> ''),
           array_agg(pgmnemo._idf(e.lessons, c.lessons)) FILTER (WHERE c.lexeme <> '')
      FROM everything e, counts c
     GROUP BY e.lessons, e.mean_tokens
$$;
