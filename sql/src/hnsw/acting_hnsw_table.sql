-- Return whether a policy admits the rows of an HNSW table. The policy names the table and no tenant, because any login
-- may read policies; only the extension's owner may call this function (pgmnemo._acting_tenant).
CREATE FUNCTION pgmnemo._acting_hnsw_table(hnsw_table name)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.hnsw_index g
                    WHERE g.tenant_id = pgmnemo._acting_tenant() AND g.name = hnsw_table);
END
$$;
