-- How a database that holds 0.6.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- New objects belong to the owner of the schema, whoever upgrades: pg_upgrade gives the extension to a superuser.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(n.nspowner), true)
  FROM pg_namespace n WHERE n.nspname = 'pgmnemo';
-- No verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

-- Names of 0.6.1. The triggers go with the functions that they call; a server of a sharded cluster has triggers of its
-- own that call pgmnemo._vector_leaves.
DROP TRIGGER vector_graph_after_insert ON pgmnemo.vector_graph;
DROP TRIGGER vector_graph_after_delete ON pgmnemo.vector_graph;
DROP TRIGGER vector_graph_after_update ON pgmnemo.vector_graph;
ALTER FUNCTION pgmnemo._vector_leaves RENAME TO _lesson_vector_after_change;
ALTER TABLE pgmnemo.vector_graph RENAME TO hnsw_index;
ALTER SEQUENCE pgmnemo.graph_seq RENAME TO hnsw_seq;
ALTER TABLE pgmnemo.piece RENAME TO segment;
ALTER TABLE pgmnemo.piece_lesson RENAME TO segment_lesson;
ALTER TABLE pgmnemo.piece_project RENAME TO segment_project;
ALTER TABLE pgmnemo.piece_term RENAME TO segment_term;
ALTER TABLE pgmnemo.segment_lesson RENAME COLUMN piece TO segment;
ALTER TABLE pgmnemo.segment_project RENAME COLUMN piece TO segment;
ALTER TABLE pgmnemo.segment_term RENAME COLUMN piece TO segment;
ALTER TABLE pgmnemo.upkeep_run RENAME TO maintenance_run;
ALTER FUNCTION pgmnemo.sweep RENAME TO delete_expired;
ALTER FUNCTION pgmnemo.list_bare RENAME TO lessons_without_passages;
ALTER FUNCTION pgmnemo.compact RENAME TO merge_postings;
ALTER FUNCTION pgmnemo.upkeep RENAME TO maintain;
ALTER PROCEDURE pgmnemo.upkeep_each RENAME TO maintain_all;
ALTER TYPE pgmnemo.settings RENAME ATTRIBUTE exact_scan_limit TO hnsw_min_vectors;
ALTER TYPE pgmnemo.question RENAME ATTRIBUTE graph TO hnsw_table;
ALTER VIEW pgmnemo.health RENAME COLUMN upkeep_began TO maintenance_began;
ALTER VIEW pgmnemo.health RENAME COLUMN upkeep_seconds TO maintenance_seconds;
ALTER VIEW pgmnemo.health RENAME COLUMN upkeep_left TO maintenance_left;
ALTER VIEW pgmnemo.health RENAME COLUMN graphs TO hnsw_indexes;
ALTER VIEW pgmnemo.health RENAME COLUMN graphs_missing TO hnsw_indexes_missing;
ALTER VIEW pgmnemo.health RENAME COLUMN graph_bytes TO hnsw_bytes;
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT c.conrelid::regclass AS relation, c.conname,
               replace(replace(replace(c.conname, 'vector_graph', 'hnsw_index'), 'piece', 'segment'),
                       'upkeep_run', 'maintenance_run') AS name
          FROM pg_constraint c WHERE c.connamespace = 'pgmnemo'::regnamespace AND c.conname ~ '^(vector_graph|piece|upkeep_run)'
    LOOP
        EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', item.relation, item.conname, item.name);
    END LOOP;
END
$$;

-- These have other names or arguments; no role may call those that begin with _. All others are replaced in place, so
-- that rights which were granted on them stay.
DROP FUNCTION pgmnemo.store, pgmnemo.append, pgmnemo.store_lesson, pgmnemo.store_lessons, pgmnemo.add_passages,
    pgmnemo.forget_lesson, pgmnemo.forget_project, pgmnemo.forget_tenant, pgmnemo.link_lessons, pgmnemo.unlink_lessons,
    pgmnemo.explain_recall, pgmnemo._enter, pgmnemo.grant_tenant, pgmnemo.list_grants, pgmnemo._times, pgmnemo._question_vector,
    pgmnemo.recall, pgmnemo.explain, pgmnemo._contributions, pgmnemo._ranked, pgmnemo._time_patterns,
    pgmnemo._links_known, pgmnemo._aligned, pgmnemo._alike_vectors, pgmnemo._alike_words, pgmnemo._all_hidden,
    pgmnemo._ask, pgmnemo._asked_entries, pgmnemo._asked_scope, pgmnemo._awaits_graph, pgmnemo._begin_graph,
    pgmnemo._believed, pgmnemo._bequeath, pgmnemo._best_sums, pgmnemo._bits, pgmnemo._bounded, pgmnemo._changed_space,
    pgmnemo._check_alike, pgmnemo._check_maker, pgmnemo._close_type, pgmnemo._compact, pgmnemo._context_seed,
    pgmnemo._dimensions, pgmnemo._dimensions_of, pgmnemo._drop_graph, pgmnemo._drop_pieces, pgmnemo._drop_unnamed,
    pgmnemo._due, pgmnemo._embedded, pgmnemo._embedding, pgmnemo._enter_graph, pgmnemo._entered, pgmnemo._entries,
    pgmnemo._entry, pgmnemo._fact, pgmnemo._facts_held, pgmnemo._few, pgmnemo._fill, pgmnemo._fits,
    pgmnemo._fresh_tenant, pgmnemo._give_up_graphs, pgmnemo._give_up_space, pgmnemo._graph_anew, pgmnemo._graph_comes,
    pgmnemo._graph_leaves, pgmnemo._graph_name, pgmnemo._graph_named, pgmnemo._graph_problems, pgmnemo._graph_rows,
    pgmnemo._graph_stands, pgmnemo._graph_worth, pgmnemo._graphs_sound, pgmnemo._hidden, pgmnemo._holds_vectors,
    pgmnemo._id_behind, pgmnemo._ideal, pgmnemo._index_graph, pgmnemo._large, pgmnemo._leading, pgmnemo._lent_parts,
    pgmnemo._level, pgmnemo._list_parts, pgmnemo._listed, pgmnemo._locked_graph, pgmnemo._loose_blocks,
    pgmnemo._make_graph, pgmnemo._masks, pgmnemo._merge, pgmnemo._merged, pgmnemo._nearest_of, pgmnemo._new_graph,
    pgmnemo._passage_worth, pgmnemo._passed, pgmnemo._passes, pgmnemo._passing, pgmnemo._piece_problems,
    pgmnemo._piece_size, pgmnemo._places, pgmnemo._pool, pgmnemo._positions, pgmnemo._proved, pgmnemo._reaches,
    pgmnemo._reaching, pgmnemo._rebuild, pgmnemo._recallable_of, pgmnemo._repair_graphs, pgmnemo._seal,
    pgmnemo._seal_pieces, pgmnemo._sealed_counts, pgmnemo._sealed_holders, pgmnemo._sealed_leg,
    pgmnemo._sealed_postings, pgmnemo._sealed_sums, pgmnemo._serving_graph, pgmnemo._settle, pgmnemo._share,
    pgmnemo._share_merging, pgmnemo._space, pgmnemo._tail, pgmnemo._tail_most, pgmnemo._taken_back, pgmnemo._term,
    pgmnemo._text_mark, pgmnemo._unit, pgmnemo._unprintable, pgmnemo._unsound_passages, pgmnemo._unsound_vectors,
    pgmnemo._vector_rows, pgmnemo._ways, pgmnemo._whole, pgmnemo._words_shared, pgmnemo._worth_compacting,
    pgmnemo._write_parts, pgmnemo.check_index, pgmnemo.compact_postings, pgmnemo.index_lessons, pgmnemo.repair_index,
    pgmnemo._upkeep_one, pgmnemo._upkeep_waiting, pgmnemo._upkeep_end;
ALTER TYPE pgmnemo.settings ADD ATTRIBUTE time_zone text, ADD ATTRIBUTE full_coverage float8,
    ADD ATTRIBUTE question_weight float8;
ALTER TYPE pgmnemo.question ADD ATTRIBUTE reach float8, ADD ATTRIBUTE center float8,
    ADD ATTRIBUTE brevity float8, ADD ATTRIBUTE repeated text[], ADD ATTRIBUTE common @extschema:vector@.halfvec,
    ADD ATTRIBUTE commonness float8, ADD ATTRIBUTE collapse boolean,
    ADD ATTRIBUTE configs regconfig[];
ALTER TYPE pgmnemo.candidate ADD ATTRIBUTE coverage float8, ADD ATTRIBUTE center float8, ADD ATTRIBUTE mark bigint,
    ADD ATTRIBUTE repeats boolean, ADD ATTRIBUTE share float8;
ALTER TYPE pgmnemo.lesson_input ADD ATTRIBUTE language text;
ALTER TYPE pgmnemo.scope ADD ATTRIBUTE ended int8multirange;
ALTER TABLE pgmnemo.tenant ADD COLUMN language text;
ALTER TABLE pgmnemo.tenant_grant ADD COLUMN access text NOT NULL DEFAULT 'write',
    ADD CONSTRAINT tenant_grant_access_check CHECK (access IN ('read', 'write'));
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant', 'WHERE language IS NOT NULL');
@file tables/lesson_config.sql
@changed
@comments
@replace views/health.sql
DO $$
DECLARE
    item record;
    part record;
    renamed name;
BEGIN
    FOR item IN SELECT c.oid, c.relname, g.tenant_id, g.generation
                  FROM pg_class c LEFT JOIN pgmnemo.hnsw_index g ON g.name = c.relname
                 WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname ~ '^graph_[0-9]+$'
                   AND pgmnemo._hnsw_table_exists(c.relname)
    LOOP
        IF item.tenant_id IS NULL THEN
            EXECUTE format('DROP TABLE pgmnemo.%I', item.relname);
            CONTINUE;
        END IF;
        renamed := pgmnemo._hnsw_new_name();
        EXECUTE format('ALTER TABLE pgmnemo.%I RENAME TO %I', item.relname, renamed);
        EXECUTE format('ALTER POLICY acting_tenant ON pgmnemo.%I USING ((SELECT pgmnemo._acting_hnsw_table(%L)))',
                       renamed, renamed);
        FOR part IN SELECT i.relname AS name, replace(replace(i.relname, item.relname, renamed), '_hnsw', '_embedding') AS renamed
                      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = item.oid
        LOOP
            EXECUTE format('ALTER INDEX pgmnemo.%I RENAME TO %I', part.name, part.renamed);
        END LOOP;
        UPDATE pgmnemo.hnsw_index g SET name = renamed
         WHERE g.tenant_id = item.tenant_id AND g.generation = item.generation;
    END LOOP;
    UPDATE pgmnemo.hnsw_index g SET name = pgmnemo._hnsw_new_name() WHERE g.name ~ '^graph_[0-9]+$';
END
$$;
DROP FUNCTION pgmnemo._acting_graph;
@file rights/rights.sql

-- Texts that are cut otherwise now: those with accents, compound tokens, names of stop words, and scripts without
-- blanks between words. Their language stays; pgmnemo.recut changes it. Names that were stored in another form than
-- Unicode's composed one.
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
SELECT set_config('pgmnemo.tenants', coalesce(string_agg(DISTINCT l.tenant_id::text, ','), ''), true) FROM pgmnemo.lesson l;
ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
    tenant uuid;
BEGIN
    FOR tenant IN SELECT t::uuid FROM string_to_table(nullif(current_setting('pgmnemo.tenants'), ''), ',') t LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        PERFORM pgmnemo._compose_names(tenant);
        PERFORM pgmnemo._repair_lessons(tenant);
        PERFORM pgmnemo._repair_passages(tenant);
    END LOOP;
    PERFORM set_config('pgmnemo.acting_tenant', '', true), set_config('pgmnemo.tenants', '', true);
END
$$;

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
