-- Lock a tenant's HNSW index for changes by one session and return its table; no session waits. NULL: another session
-- has locked it, or it does not exist.
CREATE FUNCTION pgmnemo._hnsw_lock(tenant uuid, generation smallint)
RETURNS name
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.name FROM pgmnemo.hnsw_index g
     WHERE g.tenant_id = tenant AND g.generation = _hnsw_lock.generation
       FOR NO KEY UPDATE SKIP LOCKED
$$;
