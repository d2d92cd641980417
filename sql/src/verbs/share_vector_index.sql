CREATE FUNCTION pgmnemo.share_vector_index()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO pgmnemo.vector_graph
    SELECT NULL, true WHERE NOT EXISTS (SELECT FROM pgmnemo.vector_graph WHERE shared)
$$;

REVOKE ALL ON FUNCTION pgmnemo.share_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.share_vector_index() IS 'lets the vectors of all tenants into the same HNSW indexes, from now on: large tenants are recalled from faster, and a tenant who counts the rows and pages that his calls meet can measure others'' vectors. Without it the indexes are those of the first tenant that grows beyond pgmnemo.exact_scan_limit, and all others are read exactly. Only the extension''s owner may';
