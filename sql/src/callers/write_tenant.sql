-- As pgmnemo._lock_tenant, for verbs that decide by what stands in several rows: the tenant's row is written as well,
-- so that under REPEATABLE READ whoever took his snapshot before fails rather than decide by what no longer holds.
CREATE FUNCTION pgmnemo._write_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    UPDATE pgmnemo.tenant t SET tenant_id = t.tenant_id WHERE t.tenant_id = tenant;
END
$$;
