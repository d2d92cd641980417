-- Every candidate with its score and rank, and whose relevance its context is.
CREATE FUNCTION pgmnemo._pool_scores(candidates pgmnemo.candidate[], linked bigint[], graphs float8[], w pgmnemo.weights)
RETURNS TABLE (lesson_id bigint, rank bigint, score float8, context float8, context_from text, graph float8)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.lesson_id, row_number() OVER (ORDER BY x.score DESC, x.external_id, x.project_id), x.score, x.context,
           x.context_from, x.graph
      FROM (SELECT c.*, coalesce(g.graph, 0) AS graph,
                   c.relevance + (w).context_weight * c.context + (w).recency_weight * c.recency
                   + (w).importance_weight * c.importance + (w).graph_weight * coalesce(g.graph, 0) AS score
              FROM (SELECT c.*, CASE WHEN c.occurred_at IS NULL THEN c.relevance ELSE max(c.relevance) OVER moment END AS context,
                           CASE WHEN c.occurred_at IS NULL THEN c.external_id
                                ELSE first_value(c.external_id) OVER moment END AS context_from
                      FROM unnest(candidates) c
                    WINDOW moment AS (PARTITION BY c.project_id, c.occurred_at
                                      ORDER BY c.relevance DESC, c.external_id
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id) x
$$;
