-- Return what waits for each HNSW index and in each tenant's postings (generation NULL), and whether it is due. The
-- policies show only rows of the acting tenant, so the function acts for one tenant after another, in random order:
-- a large tenant must not keep others waiting. A tenant's unbuilt index comes first, as in pgmnemo.index. No row is
-- locked.
CREATE FUNCTION pgmnemo._maintenance_due()
RETURNS TABLE (tenant uuid, generation smallint, waiting bigint, due boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    unindexed_limit constant bigint := pgmnemo._unindexed_limit((pgmnemo._settings()).hnsw_min_vectors);
    hnsw_table name;
BEGIN
    FOR tenant, generation, hnsw_table IN
        SELECT g.tenant_id, g.generation, g.name FROM pgmnemo.hnsw_index g
         WHERE pgmnemo._hnsw_is_safe()
         ORDER BY md5(g.tenant_id::text || now()), pgmnemo._hnsw_table_exists(g.name)
    LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := 0;
        due := true;
        IF pgmnemo._generation_dimensions(tenant, generation) IS NOT NULL THEN  -- else of an embedder that was changed
            waiting := pgmnemo._unindexed_total(tenant, generation);
            due := waiting > unindexed_limit OR NOT pgmnemo._hnsw_table_exists(hnsw_table);
        END IF;
        RETURN NEXT;
    END LOOP;
    generation := NULL;
    FOR tenant IN SELECT g.tenant_id FROM pgmnemo.tenant_grant g GROUP BY g.tenant_id ORDER BY random() LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := pgmnemo._small_block_count(tenant);
        due := pgmnemo._merge_is_due(tenant, waiting);
        RETURN NEXT;
    END LOOP;
    PERFORM pgmnemo._leave();
END
$$;
