CREATE FUNCTION pgmnemo._idf(lessons float8, holding float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ln(1 + (lessons - holding + 0.5) / (holding + 0.5)) $$;

COMMENT ON FUNCTION pgmnemo._idf(float8, float8) IS 'inverse document frequency, in nats, above 0: ln(1 + (N - n + 0.5) / (n + 0.5)), N lessons of which n hold the term';
