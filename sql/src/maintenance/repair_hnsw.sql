-- Rebuild a tenant's HNSW index if it has problems.
CREATE FUNCTION pgmnemo._repair_hnsw(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_of_them constant bigint := 2000000000;
    serving constant smallint := pgmnemo._generation(tenant);
BEGIN
    IF NOT EXISTS (SELECT FROM pgmnemo._hnsw_problems(tenant)) THEN
        RETURN;
    END IF;
    PERFORM pgmnemo._hnsw_remove(tenant);
    UPDATE pgmnemo.lesson_vector v SET indexed = false WHERE v.tenant_id = tenant AND v.indexed;
    IF pgmnemo._hnsw_is_safe() AND pgmnemo._hnsw_ensure(tenant, serving) THEN
        PERFORM pgmnemo._hnsw_insert_waiting(tenant, serving, all_of_them);
    END IF;
END
$$;
