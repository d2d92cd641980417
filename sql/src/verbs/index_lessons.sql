CREATE FUNCTION pgmnemo.index_lessons()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.index(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.index_lessons IS 'index for the session''s tenant';
