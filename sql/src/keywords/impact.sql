-- Return a term's part of BM25 in whole units of 2^-40 (1e-12), so that a sum below 8,192 is exact in any order:
-- equal content gives equal bits in every leg. scale = 2^40 * idf * (k1 + 1), flat = k1 * (1 - b), and per_token =
-- k1 * b / mean length are the same for all lessons; a length below the pivot counts as the pivot.
CREATE FUNCTION pgmnemo._impact(scale float8, frequency float8, flat float8, per_token float8,
                                tokens float8, pivot float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT round(scale * frequency / (frequency + flat + per_token * greatest(tokens, pivot))) $$;

COMMENT ON FUNCTION pgmnemo._impact IS 'what one term adds to the BM25 of one lesson, in units of 2^-40: idf * f * (k1 + 1) / (f + k1 * (1 - b + b * tokens / mean tokens)), f times the term, both lengths at least the pivot';
