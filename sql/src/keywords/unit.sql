-- What sums of BM25 are counted in: 2^40 to one, so that a sum below 8,192 is exact in any order.
CREATE FUNCTION pgmnemo._unit()
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 1099511627776::float8 $$;
