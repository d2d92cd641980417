-- Return whether a tenant may have a new HNSW index. Any role may lower pgmnemo.hnsw_min_vectors, so after the first
-- some hundred indexes of a database an index needs a thousand vectors. Otherwise each tenant could add four
-- relations to the catalogue, or create and drop them so often that no pg_dump succeeds.
CREATE FUNCTION pgmnemo._hnsw_allowed(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first_names constant integer := 2000;  -- an index takes two
    least_size  constant integer := 1000;
BEGIN
    RETURN (SELECT s.last_value FROM pgmnemo.hnsw_seq s) < first_names
           OR pgmnemo._has_more_vectors(tenant, generation, least_size);
END
$$;
