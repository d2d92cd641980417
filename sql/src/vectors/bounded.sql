-- A cosine of vectors in half precision, whose lengths are 1 but for rounding.
CREATE FUNCTION pgmnemo._bounded(cosine float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN cosine > 1 THEN 1 WHEN cosine < -1 THEN -1 ELSE cosine END $$;
