CREATE FUNCTION pgmnemo.forget_tenant()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.forget_all(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_tenant IS 'forget_all for the session''s tenant';
