-- Return a cosine bounded to -1 and 1: in half precision unit lengths are off by rounding.
CREATE FUNCTION pgmnemo._clamped_cosine(cosine float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN cosine > 1 THEN 1 WHEN cosine < -1 THEN -1 ELSE cosine END $$;
