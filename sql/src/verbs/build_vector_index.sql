-- The definitions are those of the script's own indexes. A build takes all rows at once, in parallel where
-- max_parallel_maintenance_workers allows, and is fastest while the graph fits into maintenance_work_mem. The
-- number comes from the build: the policies would hide other tenants' rows from a count.
CREATE FUNCTION pgmnemo.build_vector_index()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    missing text[] := ARRAY(SELECT name FROM unnest('{passage_hnsw_384,passage_hnsw_768,passage_hnsw_1024}'::text[])
                             AS name
                             WHERE to_regclass('pgmnemo.' || name) IS NULL);
BEGIN
    IF 'passage_hnsw_384' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_384 ON pgmnemo.passage
            USING hnsw ((embedding::@extschema:vector@.halfvec(384)) @extschema:vector@.halfvec_ip_ops)
            WHERE indexed AND width = 384;
    END IF;
    IF 'passage_hnsw_768' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_768 ON pgmnemo.passage
            USING hnsw ((embedding::@extschema:vector@.halfvec(768)) @extschema:vector@.halfvec_ip_ops)
            WHERE indexed AND width = 768;
    END IF;
    IF 'passage_hnsw_1024' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_1024 ON pgmnemo.passage
            USING hnsw ((embedding::@extschema:vector@.halfvec(1024)) @extschema:vector@.halfvec_ip_ops)
            WHERE indexed AND width = 1024;
    END IF;
    RETURN (SELECT coalesce(sum(c.reltuples), 0) FROM unnest(missing) AS name, pg_class c
             WHERE c.oid = to_regclass('pgmnemo.' || name));
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.build_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.build_vector_index() IS 'makes those HNSW indexes that pgmnemo.suspend_vector_index dropped, over the marked vectors of all tenants; raise maintenance_work_mem and max_parallel_maintenance_workers before. Returns how many vectors entered: 0 where all stood; only the extension''s owner may';
