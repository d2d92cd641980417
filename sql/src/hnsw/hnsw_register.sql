-- Register an HNSW index for a tenant; the next merge builds it. The lock on the space keeps a second session from
-- waiting for this session. Return whether this session registered it.
CREATE FUNCTION pgmnemo._hnsw_register(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO pgmnemo.hnsw_index (tenant_id, generation, name)
    SELECT tenant, _hnsw_register.generation, pgmnemo._hnsw_new_name()
     WHERE NOT EXISTS (SELECT FROM pgmnemo.hnsw_index g
                        WHERE g.tenant_id = tenant AND g.generation = _hnsw_register.generation)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
