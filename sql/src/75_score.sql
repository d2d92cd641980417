CREATE FUNCTION pgmnemo._score(relevance float8, recency float8, importance float8, graph float8,
                               recency_weight float8, importance_weight float8, graph_weight float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT relevance + recency_weight * recency + importance_weight * importance + graph_weight * graph
$$;

COMMENT ON FUNCTION pgmnemo._score(float8, float8, float8, float8, float8, float8, float8) IS 'relevance + recency_weight * recency + importance_weight * importance + graph_weight * graph; from -importance_weight upwards, comparable within one question only';
