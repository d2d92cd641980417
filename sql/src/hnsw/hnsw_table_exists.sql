-- Return whether an HNSW table exists and belongs to the owner of the schema pgmnemo: pg_upgrade gives the extension to
-- a superuser, and plain SQL has no extension. A snapshot older than its drop still shows its name, and a role with
-- CREATE on the schema may have taken the name.
CREATE FUNCTION pgmnemo._hnsw_table_exists(hnsw_table name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.nspowner = c.relowner
                    WHERE n.nspname = 'pgmnemo' AND c.relkind = 'r'
                      AND c.oid = to_regclass('pgmnemo.' || quote_ident(hnsw_table)))
$$;
