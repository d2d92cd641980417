-- Whether a graph's table is there, and the extension's own: to a snapshot that is older than its drop its name still
-- shows, and who was let to create in the schema may have taken the name.
CREATE FUNCTION pgmnemo._graph_stands(graph name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_extension e ON e.extowner = c.relowner
                    WHERE e.extname = 'pgmnemo' AND c.relkind = 'r'
                      AND c.oid = to_regclass('pgmnemo.' || quote_ident(graph)))
$$;
