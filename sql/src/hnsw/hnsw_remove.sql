-- Remove a tenant's HNSW indexes, except those that another session is changing. Vectors deleted afterwards need not be
-- taken out one by one.
CREATE FUNCTION pgmnemo._hnsw_remove(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH free AS MATERIALIZED (
        SELECT g.generation FROM pgmnemo.hnsw_index g WHERE g.tenant_id = tenant FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pgmnemo.hnsw_index g USING free f WHERE g.tenant_id = tenant AND g.generation = f.generation
$$;
