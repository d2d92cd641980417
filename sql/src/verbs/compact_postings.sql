CREATE FUNCTION pgmnemo.compact_postings()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.compact(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.compact_postings IS 'compact for the session''s tenant';
