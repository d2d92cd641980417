-- What a candidate is worth by itself: the first six of its contributions.
CREATE FUNCTION pgmnemo._relevance(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT sum(x) FROM unnest((pgmnemo._contributions(c, s))[:6]) AS x $$;

COMMENT ON FUNCTION pgmnemo._relevance IS 'what a candidate is worth without context, neighbours, recency, importance and graph';
