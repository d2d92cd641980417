CREATE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '@version@' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
