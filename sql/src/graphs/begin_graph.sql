-- Register an HNSW index for a tenant; the next merge builds it. The lock on the space keeps a second session from
-- waiting for this session. Return whether this session registered it.
CREATE FUNCTION pgmnemo._begin_graph(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO pgmnemo.vector_graph (tenant_id, generation, name)
    SELECT tenant, _begin_graph.generation, pgmnemo._graph_name()
     WHERE NOT EXISTS (SELECT FROM pgmnemo.vector_graph g
                        WHERE g.tenant_id = tenant AND g.generation = _begin_graph.generation)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
