-- What a candidate is worth by itself: the first six of its contributions.
CREATE FUNCTION pgmnemo._relevance(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (relevance float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT v[1] + v[2] + v[3] + v[4] + v[5] + v[6] FROM (SELECT pgmnemo._contributions(c, s) AS v OFFSET 0) x $$;

COMMENT ON FUNCTION pgmnemo._relevance IS 'what a candidate is worth without context, neighbours, recency, importance and graph';
