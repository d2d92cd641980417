CREATE FUNCTION pgmnemo._importance(level integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (level - 3) / 2.0::float8 $$;

COMMENT ON FUNCTION pgmnemo._importance(integer) IS 'from -1 to 1: (level - 3) / 2, level from 1 to 5';
