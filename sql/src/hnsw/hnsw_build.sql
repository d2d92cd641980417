-- Create the indexes of an HNSW table. The inner product of unit vectors is the cosine. A build takes all rows at once,
-- in parallel where max_parallel_maintenance_workers allows, and is fastest within maintenance_work_mem.
CREATE FUNCTION pgmnemo._hnsw_build(hnsw_table name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('ALTER TABLE pgmnemo.%I ADD PRIMARY KEY (lesson_id, number)', hnsw_table);
    EXECUTE format('CREATE INDEX %I ON pgmnemo.%I (project_id)', hnsw_table || '_project', hnsw_table);
    EXECUTE format('CREATE INDEX %I ON pgmnemo.%I USING hnsw (embedding @extschema:vector@.halfvec_ip_ops)',
                   hnsw_table || '_embedding', hnsw_table);
END
$$;
