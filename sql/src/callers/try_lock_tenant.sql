-- Lock a tenant's row if no session has locked it; return whether it is locked now. The wait for another session's new
-- row is as short as possible.
CREATE FUNCTION pgmnemo._try_lock_tenant(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 1
AS $$
BEGIN
    PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM pgmnemo.tenant t WHERE t.tenant_id = tenant) THEN
        INSERT INTO pgmnemo.tenant VALUES (tenant) ON CONFLICT DO NOTHING;
        PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    END IF;
    RETURN FOUND;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$$;
