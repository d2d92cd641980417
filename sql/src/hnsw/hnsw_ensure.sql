-- Return whether a tenant has an HNSW index of a generation, and register an index where its vectors exceed
-- pgmnemo.hnsw_min_vectors.
CREATE FUNCTION pgmnemo._hnsw_ensure(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.hnsw_index g
                WHERE g.tenant_id = tenant AND g.generation = _hnsw_ensure.generation) THEN
        RETURN true;
    ELSIF pgmnemo._has_more_vectors(tenant, generation, (pgmnemo._settings()).hnsw_min_vectors)
          AND pgmnemo._hnsw_allowed(tenant, generation) THEN
        PERFORM pgmnemo._hnsw_register(tenant, generation);
        RETURN true;
    END IF;
    RETURN false;
END
$$;
