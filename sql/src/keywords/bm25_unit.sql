-- Return the number of units in a BM25 of 1: with 2^40 a sum below 8,192 is exact in any order.
CREATE FUNCTION pgmnemo._bm25_unit()
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 1099511627776::float8 $$;
