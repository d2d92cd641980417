-- Insert waiting vectors into HNSW indexes, rebuilds first: a rebuild ends by locking the tenant, and its writers
-- may wait for rows of a merge.
CREATE FUNCTION pgmnemo.index(tenant uuid DEFAULT NULL, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_of_them constant bigint := 2000000000;
    entered bigint;
    "all" bigint := 0;
    one smallint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    IF NOT pgmnemo._hnsw_is_safe() THEN
        RAISE NOTICE 'pgvector is older than 0.8.4, so every scope is read exactly'
        USING HINT = 'Install a later one and run ALTER EXTENSION vector UPDATE.';
    ELSE
        FOR one IN SELECT g.generation
                     FROM pgmnemo.embedding_space s, unnest(ARRAY[s.generation, s.next_generation]) AS g (generation)
                    WHERE s.tenant_id = tenant AND pgmnemo._hnsw_ensure(tenant, g.generation)
                    ORDER BY NOT pgmnemo._hnsw_rebuild_due(tenant, g.generation,
                                                     pgmnemo._unindexed_count(tenant, g.generation, all_of_them)) LOOP
            entered := pgmnemo._hnsw_insert_waiting(tenant, one, all_of_them);
            "all" := "all" + coalesce(entered, 0);
            IF entered IS NULL THEN
                RAISE NOTICE 'another session brings vectors of this tenant into its HNSW index just now'
                USING HINT = 'Call again when it is done.';
            END IF;
        END LOOP;
    END IF;
    PERFORM pgmnemo._leave();
    RETURN "all";
END
$$;

COMMENT ON FUNCTION pgmnemo.index IS 'brings all vectors of a tenant with more than pgmnemo.hnsw_min_vectors of them into its HNSW index, which is made where there is none; returns how many entered, 0 for a smaller tenant. While an embedder is being changed, those of the new one get an index of their own, too. Worth it after a bulk load: raise maintenance_work_mem and max_parallel_maintenance_workers before. Recall is right without it, but scans what has not entered. Writers and readers go on meanwhile';
