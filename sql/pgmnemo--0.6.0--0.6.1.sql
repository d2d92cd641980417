\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit
-- How a database that holds 0.6.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- As every release does: no verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

-- How a run ends: what no tenant has any more goes, and what it left is written down and returned.
CREATE OR REPLACE FUNCTION pgmnemo._upkeep_end(run pgmnemo.upkeep_run)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM pgmnemo._drop_unnamed();
    -- a dump, and so pg_upgrade, leaves these open
    PERFORM pgmnemo._close_type(c.relname) FROM pg_class c
      WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'v')
        AND has_type_privilege('public', c.reltype, 'USAGE');
    UPDATE pgmnemo.upkeep_run u
       SET began = run.began, seconds = extract(epoch FROM clock_timestamp() - run.began),
           merged = coalesce(run.merged, u.merged), vectors_waiting = run.vectors_waiting,
           blocks_waiting = run.blocks_waiting, "left" = run."left", skipped = run.skipped
     WHERE u.ctid IN (SELECT r.ctid FROM pgmnemo.upkeep_run r FOR UPDATE SKIP LOCKED);
    RETURN run."left";
END
$$;
-- Adds a row of pgmnemo._upkeep_waiting to what the run counts and, where it is due and `most` is above 0, mends it:
-- brings so many vectors into a graph, or compacts the postings. What its writers hold or what is spoilt stays.
CREATE OR REPLACE FUNCTION pgmnemo._upkeep_one(
    run        pgmnemo.upkeep_run,
    tenant     uuid,
    generation smallint,
    waiting    bigint,
    due        boolean,
    most       bigint
)
RETURNS pgmnemo.upkeep_run
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
DECLARE
    fewer bigint := 0;
BEGIN
    IF due AND most > 0 THEN
        BEGIN
            PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
            IF generation IS NULL THEN
                IF pgmnemo._try_lock_tenant(tenant) THEN
                    PERFORM pgmnemo._compact(tenant);
                    fewer := waiting;
                END IF;
            ELSIF pgmnemo._dimensions_of(tenant, generation) IS NULL THEN
                PERFORM pgmnemo._drop_generation(tenant, generation) WHERE pgmnemo._try_lock_tenant(tenant);
            ELSE
                fewer := coalesce(pgmnemo._enter_graph(tenant, generation, most), 0);
            END IF;
            PERFORM pgmnemo._leave();
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
            WHEN OTHERS THEN
                RAISE WARNING '% of tenant % stays as it is: %',
                              CASE WHEN generation IS NULL THEN 'the index of words' ELSE 'the graph' END,
                              quote_literal(tenant), SQLERRM;
        END;
    END IF;
    IF generation IS NULL THEN
        run.blocks_waiting := run.blocks_waiting + waiting - fewer;
    ELSE
        run.vectors_waiting := run.vectors_waiting + waiting - fewer;
    END IF;
    IF due THEN
        run."left" := run."left" + waiting - fewer;
        run.skipped := run.skipped + (fewer = 0 AND waiting > 0)::integer;
    END IF;
    IF fewer > 0 THEN
        run.merged := clock_timestamp();
    END IF;
    RETURN run;
END
$$;
-- What waits for each graph and in each tenant's postings (generation NULL), and whether it is due. The policies show
-- rows of the acting tenant alone, so it acts for one after another, in no order: a large one must not keep the others
-- waiting. Of one tenant a graph that is to be made comes first, as in pgmnemo.index. It locks nothing.
CREATE OR REPLACE FUNCTION pgmnemo._upkeep_waiting()
RETURNS TABLE (tenant uuid, generation smallint, waiting bigint, due boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    all_of_them constant bigint := 2000000000;
    tail_most constant bigint := pgmnemo._tail_most((pgmnemo._settings()).exact_scan_limit);
    graph name;
BEGIN
    FOR tenant, generation, graph IN
        SELECT g.tenant_id, g.generation, g.name FROM pgmnemo.vector_graph g
         WHERE pgmnemo._graphs_sound()
         ORDER BY md5(g.tenant_id::text || now()), pgmnemo._graph_stands(g.name)
    LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := 0;
        due := true;
        IF pgmnemo._dimensions_of(tenant, generation) IS NOT NULL THEN  -- else of an embedder that was changed
            waiting := pgmnemo._tail(tenant, generation, all_of_them);
            due := waiting > tail_most OR NOT pgmnemo._graph_stands(graph);
        END IF;
        RETURN NEXT;
    END LOOP;
    generation := NULL;
    FOR tenant IN SELECT g.tenant_id FROM pgmnemo.tenant_grant g GROUP BY g.tenant_id ORDER BY random() LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := pgmnemo._loose_blocks(tenant);
        due := pgmnemo._worth_compacting(tenant, waiting);
        RETURN NEXT;
    END LOOP;
    PERFORM pgmnemo._leave();
END
$$;
-- With the rights of whoever calls, who is the extension's owner or a superuser.
CREATE OR REPLACE FUNCTION pgmnemo.upkeep(most integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '10 seconds';
    budget bigint := most;
    run pgmnemo.upkeep_run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    one record;
BEGIN
    PERFORM pgmnemo._check_most(most, 1000000);
    FOR one IN SELECT * FROM pgmnemo._upkeep_waiting() LOOP
        run := pgmnemo._upkeep_one(run, one.tenant, one.generation, one.waiting, one.due,
                                   CASE WHEN clock_timestamp() < enough THEN budget ELSE 0 END);
        IF one.due THEN
            budget := budget - one.waiting;
        END IF;
    END LOOP;
    RETURN pgmnemo._upkeep_end(run);
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.upkeep(integer) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.upkeep(integer) IS 'what pgmnemo.upkeep_each does, in one transaction: what it changes it holds to its end. Of vectors and small blocks at most so many together (1 to 1,000,000), and it begins nothing after ten seconds. Returns how many are left: call again until it is 0. Only the extension''s owner may';
CREATE OR REPLACE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.6.1' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
-- As pgmnemo.upkeep, but what it holds of a tenant it gives back before it turns to the next. A procedure that commits
-- has no settings of its own: what is called before the first SET names its schema.
CREATE PROCEDURE pgmnemo.upkeep_each(most integer DEFAULT 1000, INOUT "left" bigint DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    run pgmnemo.upkeep_run;
    one record;
BEGIN
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM pgmnemo._check_most(most, 1000000);
    run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    FOR one IN SELECT * FROM pgmnemo._upkeep_waiting() LOOP
        run := pgmnemo._upkeep_one(run, one.tenant, one.generation, one.waiting, one.due, most);
        IF one.due THEN
            COMMIT;
            SET LOCAL search_path = pg_catalog, pg_temp;
        END IF;
    END LOOP;
    "left" := pgmnemo._upkeep_end(run);
END
$$;

REVOKE ALL ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) FROM PUBLIC;
COMMENT ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, of each at most so many (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.compact), unless their writers are at work, each in a transaction of its own, and drops indexes that no tenant has any more. "left" is how many such vectors and blocks are left. Only the extension''s owner may, and not within a transaction';
COMMENT ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, of each at most so many (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.compact), unless their writers are at work, each in a transaction of its own, and drops indexes that no tenant has any more. "left" is how many such vectors and blocks are left. Only the extension''s owner may, and not within a transaction';
-- Nobody but the extension's owner reaches a table, a type for columns of his own, or a function that is no verb: no
-- login can lock rows or tables, ask the planner about them, or make an object that depends on ours. What default
-- privileges of the owner gave to others goes as well.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        WITH object AS (
            SELECT format('%s pgmnemo.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS name,
                   c.relowner AS owner, c.relacl AS rights
              FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'S', 'v')
             UNION ALL
            SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, p.proacl
              FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace AND starts_with(p.proname, '_')
             UNION ALL
            SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl
              FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typtype = 'c'
        )
        SELECT o.name, 'PUBLIC' AS holder FROM object o
         UNION
        SELECT o.name, quote_ident(pg_get_userbyid(a.grantee))
          FROM object o CROSS JOIN LATERAL aclexplode(o.rights) a
         WHERE a.grantee NOT IN (0, o.owner)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', item.name, item.holder);
    END LOOP;
    -- The plans within verbs hold estimates, which come of all tenants' rows: no caller is to have them printed. And
    -- bodies are read as they are written, whatever a caller has set.
    FOR item IN
        SELECT p.oid::regprocedure AS name FROM pg_catalog.pg_proc p
         WHERE p.pronamespace = 'pgmnemo'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET debug_print_plan = off', item.name);
        EXECUTE format('ALTER FUNCTION %s SET standard_conforming_strings = on', item.name);
    END LOOP;
END
$$;
-- What a role may do is decided by its grants of tenants: without one, every verb refuses.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT SELECT ON
    pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.vectors, pgmnemo.edges, pgmnemo.postings
    TO PUBLIC;
GRANT SELECT ON pgmnemo.health TO pg_monitor;
-- Run with the rights of whoever calls, before or beside a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._session_tenant,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number
    TO PUBLIC;

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
