-- Create an empty HNSW index for a tenant and return its table. The caller has locked the tenant's row of vector_graph;
-- no vector is marked as indexed.
CREATE FUNCTION pgmnemo._make_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._new_graph(tenant, generation);
BEGIN
    PERFORM pgmnemo._index_graph(made);
    RETURN made;
END
$$;
