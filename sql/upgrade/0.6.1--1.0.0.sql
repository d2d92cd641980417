-- How a database that holds 0.6.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- New objects belong to the owner of the schema, whoever upgrades: pg_upgrade gives the extension to a superuser.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(n.nspowner), true)
  FROM pg_namespace n WHERE n.nspname = 'pgmnemo';
-- No verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

-- These have other arguments. All others are replaced in place, so that rights which were granted on them stay.
DROP FUNCTION pgmnemo.store, pgmnemo.store_lesson, pgmnemo.append, pgmnemo._times, pgmnemo._ideal, pgmnemo.recall,
    pgmnemo.explain, pgmnemo._pool, pgmnemo._contributions, pgmnemo._ranked, pgmnemo._share,
    pgmnemo._time_patterns, pgmnemo._links_known, pgmnemo._enter_graph,
    pgmnemo._believed, pgmnemo._passes, pgmnemo._passing, pgmnemo._compact, pgmnemo._seal_pieces;
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
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant', 'WHERE language IS NOT NULL');
@file tables/lesson_config.sql
@changed
@comments
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
