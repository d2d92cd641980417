-- Whether the HNSW indexes serve a tenant.
CREATE FUNCTION pgmnemo._graph_open(tenant uuid)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._graphs_sound()
       AND EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared OR g.tenant_id = tenant)
$$;
