-- Drop the HNSW tables that no tenant has any more.
CREATE FUNCTION pgmnemo._drop_unnamed()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._drop_graph(c.relname)
      FROM pg_class c
     WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname ~ '^graph_[0-9]+$'
       AND pgmnemo._graph_stands(c.relname)
       AND NOT EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.name = c.relname)
$$;
