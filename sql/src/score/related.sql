-- Candidates with what comes to them from others: context, neighbours and graph.
CREATE FUNCTION pgmnemo._related(candidates pgmnemo.candidate[], linked bigint[], graphs float8[])
RETURNS pgmnemo.candidate[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(
               ROW(c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.assistant, c.cosine, c.bm25,
                   c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal, c.context, c.neighbours, c.recency,
                   c.importance, coalesce(g.graph, 0), c.relevance)::pgmnemo.candidate), '{}')
      FROM (SELECT c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.assistant, c.cosine, c.bm25,
                   c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal,
                   CASE WHEN c.occurred_at IS NULL THEN c.relevance ELSE max(c.relevance) OVER moment END AS context,
                   CASE WHEN c.place IS NULL THEN 0
                        ELSE coalesce(sum(c.relevance) OVER around, 0) END AS neighbours,
                   c.recency, c.importance, c.relevance
              FROM unnest(candidates) c
            WINDOW moment AS (PARTITION BY c.project_id, c.occurred_at),
                   around AS (PARTITION BY c.project_id ORDER BY c.place
                              RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP)) c
      LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id
$$;
