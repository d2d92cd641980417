-- What the policy of a graph goes by. It names the graph and no tenant, for any login may read policies; nobody but
-- the extension's owner may call it (pgmnemo._acting_tenant).
CREATE FUNCTION pgmnemo._acting_graph(graph name)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.vector_graph g
                    WHERE g.tenant_id = pgmnemo._acting_tenant() AND g.name = graph);
END
$$;
