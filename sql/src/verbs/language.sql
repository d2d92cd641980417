CREATE FUNCTION pgmnemo.language(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    found := pgmnemo._tenant_language(tenant);
    PERFORM pgmnemo._leave();
    RETURN found;
END
$$;

COMMENT ON FUNCTION pgmnemo.language IS 'the language of texts that are written without one, as pgmnemo.set_language set it: auto where nobody did. tenant NULL: the session''s';
