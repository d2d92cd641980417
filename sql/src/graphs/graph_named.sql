-- Return whether a table is a tenant's HNSW table, in the present state of the row.
CREATE FUNCTION pgmnemo._graph_named(tenant uuid, generation smallint, graph name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.vector_graph g
                    WHERE g.tenant_id = tenant AND g.generation = _graph_named.generation AND g.name = graph);
END
$$;
