-- Drop the HNSW tables that belong to no tenant.
CREATE FUNCTION pgmnemo._hnsw_drop_orphans()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._hnsw_drop_table(c.relname)
      FROM pg_class c
     WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname ~ '^hnsw_[0-9]+$'
       AND pgmnemo._hnsw_table_exists(c.relname)
       AND NOT EXISTS (SELECT FROM pgmnemo.hnsw_index g WHERE g.name = c.relname)
$$;
