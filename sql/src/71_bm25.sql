-- Rounded to whole multiples of 2^-40 (1e-12), so that a sum below 8,192 is exact in any order: equal content
-- gives equal bits whatever the plan.
CREATE FUNCTION pgmnemo._bm25(idf float8, frequency float8, tokens float8, mean_tokens float8, k1 float8, b float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT round(1099511627776 * idf * frequency * (k1 + 1)
                 / (frequency + k1 * (1 - b + b * tokens / mean_tokens))) / 1099511627776
$$;

COMMENT ON FUNCTION pgmnemo._bm25(float8, float8, float8, float8, float8, float8) IS 'what one term adds to the BM25 of one lesson, from 0 to idf * (k1 + 1): idf * f * (k1 + 1) / (f + k1 * (1 - b + b * tokens / mean_tokens)), f times the term, to 1e-12';
