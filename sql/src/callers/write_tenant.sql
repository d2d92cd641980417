-- Lock and write a tenant's row, for verbs that decide by several rows: under REPEATABLE READ a transaction with an
-- older snapshot then fails rather than decide by outdated rows.
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
