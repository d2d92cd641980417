-- The name of a tenant's graph for who may change it: one session at a time, and no other waits. NULL: another does,
-- or there is none.
CREATE FUNCTION pgmnemo._locked_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.name FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = tenant AND g.generation = _locked_graph.generation
       FOR NO KEY UPDATE SKIP LOCKED
$$;
