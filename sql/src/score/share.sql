-- What an assistant says counts for less: much of it repeats what it was told.
CREATE FUNCTION pgmnemo._share(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN (c).assistant THEN (s).assistant_weight ELSE 1 END $$;
