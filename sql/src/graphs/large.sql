-- Return whether a tenant has an HNSW index of a generation, and register an index where its vectors exceed
-- pgmnemo.exact_scan_limit.
CREATE FUNCTION pgmnemo._large(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g
                WHERE g.tenant_id = tenant AND g.generation = _large.generation) THEN
        RETURN true;
    ELSIF pgmnemo._holds_vectors(tenant, generation, (pgmnemo._settings()).exact_scan_limit)
          AND pgmnemo._graph_worth(tenant, generation) THEN
        PERFORM pgmnemo._begin_graph(tenant, generation);
        RETURN true;
    END IF;
    RETURN false;
END
$$;
