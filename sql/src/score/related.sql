-- Candidates with what comes to them from others: context, neighbours and graph.
CREATE FUNCTION pgmnemo._related(scope pgmnemo.scope, candidates pgmnemo.candidate[], linked bigint[], graphs float8[],
                                 half_length float8)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        SELECT ROW(c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.assistant, c.cosine, c.bm25,
                   c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal,
                   CASE WHEN c.occurred_at IS NULL THEN c.relevance
                        ELSE max(c.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END,
                   coalesce(n.neighbours, 0), c.recency, c.importance, coalesce(g.graph, 0), c.relevance)::pgmnemo.candidate
          FROM unnest(candidates) c
          LEFT JOIN pgmnemo._neighbours(scope, candidates, half_length) n ON n.lesson_id = c.lesson_id
          LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id);
END
$$;
