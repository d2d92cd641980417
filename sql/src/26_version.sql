CREATE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.3.1' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
