CREATE FUNCTION pgmnemo.repair_index()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.repair(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.repair_index IS 'repair for the session''s tenant';
