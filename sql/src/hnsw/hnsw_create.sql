-- Create an empty HNSW index for a tenant and return its table. The caller has locked the tenant's row of hnsw_index;
-- no vector is marked as indexed.
CREATE FUNCTION pgmnemo._hnsw_create(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._hnsw_create_table(tenant, generation);
BEGIN
    PERFORM pgmnemo._hnsw_build(made);
    RETURN made;
END
$$;
