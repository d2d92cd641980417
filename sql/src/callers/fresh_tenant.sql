-- As pgmnemo._write_tenant, for who puts together anew what is derived from lessons: under an older snapshot it fails
-- where one of them was changed since, too. Who changes one locks the tenant's row and does not write it.
CREATE FUNCTION pgmnemo._fresh_tenant(tenant uuid)
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
