-- Delete vectors of a generation that is no longer or never used, with their HNSW index. An index that another
-- session is changing is left empty for pgmnemo.maintain. Writers that delete vectors lock a vector before they ask
-- for the index's row, so they wait for the tenant instead.
CREATE FUNCTION pgmnemo._drop_generation(tenant uuid, generation smallint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    hnsw_table name;
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    SELECT g.name INTO hnsw_table
      FROM pgmnemo.hnsw_index g
     WHERE g.tenant_id = tenant AND g.generation = _drop_generation.generation FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        DELETE FROM pgmnemo.hnsw_index g WHERE g.tenant_id = tenant AND g.generation = _drop_generation.generation;
    END IF;
    DELETE FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant AND v.generation = _drop_generation.generation;
    PERFORM pgmnemo._hnsw_drop_table(hnsw_table) WHERE hnsw_table IS NOT NULL;
END
$$;
