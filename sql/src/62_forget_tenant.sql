CREATE FUNCTION pgmnemo.forget_tenant()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    gone bigint;
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_tenant() IS 'every lesson of the session''s tenant, gone for good; returns how many there were, softly forgotten ones included';
