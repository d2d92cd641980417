-- Lock a tenant's row to the end of the transaction, to remove or merge postings; appending needs no lock. Verbs that
-- change lessons take it before any row of theirs, so that they cannot deadlock.
CREATE FUNCTION pgmnemo._lock_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO pgmnemo.tenant VALUES (tenant) ON CONFLICT DO NOTHING;
        PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE;
    END IF;
END
$$;
