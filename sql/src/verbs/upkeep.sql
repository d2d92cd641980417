-- With the rights of whoever calls, who is the extension's owner or a superuser. The policies show rows of the acting
-- tenant alone, so it acts for one after another, in no order: a large one must not keep the others waiting, nor one
-- whose writers hold a lock or whose rows are spoilt. Of one tenant a graph that is to be made comes first, as in
-- pgmnemo.index.
CREATE FUNCTION pgmnemo.upkeep(most integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
DECLARE
    all_of_them constant bigint := 2000000000;
    tail_most constant bigint := pgmnemo._tail_most((pgmnemo._settings()).exact_scan_limit);
    enough constant timestamptz := clock_timestamp() + interval '10 seconds';
    began constant timestamptz := clock_timestamp();
    budget bigint := upkeep.most;
    "left" bigint := 0;
    vectors bigint := 0;
    blocks bigint := 0;
    merges integer := 0;
    skipped integer := 0;
    waiting bigint;
    entered bigint;
    one record;
BEGIN
    PERFORM pgmnemo._check_most(upkeep.most, 1000000);
    FOR one IN SELECT g.tenant_id, g.generation, g.name FROM pgmnemo.vector_graph g
                WHERE pgmnemo._graphs_sound()
                ORDER BY md5(g.tenant_id::text || now()), pgmnemo._graph_stands(g.name) LOOP
        PERFORM set_config('pgmnemo.acting_tenant', one.tenant_id::text, true);
        IF pgmnemo._dimensions_of(one.tenant_id, one.generation) IS NULL THEN  -- of an embedder that was changed
            PERFORM pgmnemo._drop_generation(one.tenant_id, one.generation)
              WHERE pgmnemo._try_lock_tenant(one.tenant_id);
            CONTINUE;
        END IF;
        waiting := pgmnemo._tail(one.tenant_id, one.generation, all_of_them);
        entered := 0;
        IF waiting > tail_most OR NOT pgmnemo._graph_stands(one.name) THEN
            IF budget > 0 AND clock_timestamp() < enough THEN
                BEGIN
                    entered := coalesce(pgmnemo._enter_graph(one.tenant_id, one.generation, budget), 0);
                    budget := budget - entered;
                EXCEPTION
                    WHEN lock_not_available THEN
                        budget := budget - waiting;
                    WHEN OTHERS THEN
                        RAISE WARNING 'the graph of tenant % stays as it is: %', quote_literal(one.tenant_id), SQLERRM;
                        budget := budget - waiting;
                END;
            END IF;
            "left" := "left" + waiting - entered;
            merges := merges + (entered > 0)::integer;
            skipped := skipped + (entered = 0 AND waiting > 0)::integer;
        END IF;
        vectors := vectors + waiting - entered;
    END LOOP;
    FOR one IN SELECT g.tenant_id FROM pgmnemo.tenant_grant g GROUP BY g.tenant_id ORDER BY random() LOOP
        PERFORM set_config('pgmnemo.acting_tenant', one.tenant_id::text, true);
        waiting := pgmnemo._loose_blocks(one.tenant_id);
        blocks := blocks + waiting;
        IF pgmnemo._worth_compacting(one.tenant_id, waiting) THEN
            "left" := "left" + waiting;
            skipped := skipped + 1;
            IF budget > 0 AND clock_timestamp() < enough THEN
                BEGIN
                    IF pgmnemo._try_lock_tenant(one.tenant_id) THEN
                        PERFORM pgmnemo._compact(one.tenant_id);
                        "left" := "left" - waiting;
                        blocks := blocks - waiting;
                        merges := merges + 1;
                        skipped := skipped - 1;
                    END IF;
                EXCEPTION WHEN OTHERS THEN
                    RAISE WARNING 'the postings of tenant % stay as they are: %',
                                  quote_literal(one.tenant_id), SQLERRM;
                END;
                budget := budget - waiting;
            END IF;
        END IF;
    END LOOP;
    PERFORM pgmnemo._leave();
    PERFORM pgmnemo._drop_unnamed();
    -- a dump, and so pg_upgrade, leaves these open
    PERFORM pgmnemo._close_type(c.relname) FROM pg_class c
      WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'v')
        AND has_type_privilege('public', c.reltype, 'USAGE');
    UPDATE pgmnemo.upkeep_run u
       SET began = began, seconds = extract(epoch FROM clock_timestamp() - began),
           merged = CASE WHEN merges > 0 THEN clock_timestamp() ELSE u.merged END,
           vectors_waiting = vectors, blocks_waiting = blocks, "left" = "left", skipped = skipped
     WHERE u.ctid IN (SELECT r.ctid FROM pgmnemo.upkeep_run r FOR UPDATE SKIP LOCKED);
    RETURN "left";
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.upkeep(integer) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.upkeep(integer) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, at most so many together (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.compact), unless their writers are at work, begins nothing after ten seconds, and drops indexes that no tenant has any more. Returns how many such vectors and blocks are left: call again until it is 0. Only the extension''s owner may';
