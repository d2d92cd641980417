-- Return whether a table is a tenant's HNSW table, in the present state of the row.
CREATE FUNCTION pgmnemo._hnsw_is_named(tenant uuid, generation smallint, hnsw_table name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.hnsw_index g
                    WHERE g.tenant_id = tenant AND g.generation = _hnsw_is_named.generation AND g.name = hnsw_table);
END
$$;
