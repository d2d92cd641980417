CREATE FUNCTION pgmnemo.suspend_vector_index()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    built boolean := pgmnemo._vector_index_built();
BEGIN
    DROP INDEX IF EXISTS pgmnemo.passage_hnsw_384, pgmnemo.passage_hnsw_768, pgmnemo.passage_hnsw_1024;
    RETURN built;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.suspend_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.suspend_vector_index() IS 'drops the HNSW indexes of all tenants before a bulk load, so that rows written meanwhile cost no graph; recall scans every scope exactly until pgmnemo.build_vector_index(). Returns whether they stood; only the extension''s owner may';
