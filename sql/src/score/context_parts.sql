-- Return the rest of the score: what other lessons add to a candidate, and what does not depend on the question.
CREATE FUNCTION pgmnemo._context_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (context float8, neighbours float8, recency float8, importance float8, graph float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (s).context_weight * (c).context,
           (s).neighbours_weight * (c).neighbours,
           (s).recency_weight * (c).recency,
           (s).importance_weight * (c).importance,
           (s).graph_weight * (c).graph
$$;
