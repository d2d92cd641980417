-- Write a tenant's row as pgmnemo._write_tenant does, to rebuild data derived from lessons: under an older snapshot it
-- also fails where a lesson was changed since. A session that changes a lesson locks the row and does not write it.
CREATE FUNCTION pgmnemo._touch_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._write_tenant(tenant);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM pgmnemo.lesson l WHERE l.tenant_id = tenant FOR SHARE;
    END IF;
END
$$;
