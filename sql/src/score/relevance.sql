-- Return a candidate's own relevance: the sum of the first six of its contributions.
CREATE FUNCTION pgmnemo._relevance(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (relevance float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT o.bm25 + o.passage_terms + o.passage_cosine + o.pair_cosine + o.cosine + o.temporal
      FROM pgmnemo._own_parts(c, s) o
$$;

COMMENT ON FUNCTION pgmnemo._relevance IS 'what a candidate is worth without context, neighbours, recency, importance and graph';
