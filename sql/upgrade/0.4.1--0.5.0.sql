-- How a database that holds 0.4.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py). Lessons gain a column, and
-- what their metadata says is indexed; no row is rewritten.
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- Who comes from 0.3.1 hears here what a new installation says.
@file guard/vector_version.sql

-- What has other arguments or another result. All else is replaced in place, so that rights which were granted or
-- revoked on it stay.
DROP FUNCTION pgmnemo.recall, pgmnemo.recall_lessons, pgmnemo.explain, pgmnemo.explain_recall,
    pgmnemo.store, pgmnemo.store_lesson, pgmnemo.forget, pgmnemo.forget_lesson,
    pgmnemo._store, pgmnemo._check_provenance, pgmnemo._passages_differ, pgmnemo._clear_passages,
    pgmnemo._check_recall, pgmnemo._ask, pgmnemo._times, pgmnemo._scope, pgmnemo._tell_hidden,
    pgmnemo._passed, pgmnemo._graph_leg, pgmnemo._graph_proximity;
@file types/filter.sql
ALTER TYPE pgmnemo.scope ADD ATTRIBUTE moment timestamptz, ADD ATTRIBUTE known_at timestamptz,
    ADD ATTRIBUTE filtered boolean, ADD ATTRIBUTE ids bigint[], ADD ATTRIBUTE filter pgmnemo.filter,
    ADD ATTRIBUTE everything boolean, ADD ATTRIBUTE plain boolean;
ALTER TYPE pgmnemo.question ADD ATTRIBUTE ideal float8, ADD ATTRIBUTE share float8;
ALTER TABLE pgmnemo.lesson ADD COLUMN superseded_at timestamptz;
DROP INDEX pgmnemo.lesson_position, pgmnemo.lesson_edge_target;
@file tables/lesson_position.sql
@file tables/lesson_edge_target.sql
@file tables/lesson_topic.sql
@file tables/lesson_topic_long.sql
@file tables/lesson_happened.sql
@file tables/lesson_expiry.sql
@file tables/lesson_entry.sql
@file tables/supersession.sql
@file tables/supersession_indexes.sql
@file tables/revocation_seq.sql
@changed
@comments
-- It shows the columns that the table had when it was made.
CREATE OR REPLACE VIEW pgmnemo.lessons AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_lessons(c.tenant) t
 WHERE c.tenant IS NOT NULL;
ALTER TABLE pgmnemo.lesson_entry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.supersession ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.lesson_entry USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.supersession USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
-- The policies hold for the owner as well, so the entries are made while those of lessons do not.
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry NO FORCE ROW LEVEL SECURITY;
INSERT INTO pgmnemo.lesson_entry
SELECT l.tenant_id, e.entry, l.id FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._entries(l.metadata) AS e (entry)
 WHERE l.metadata <> '{}'
 ORDER BY 1, 2, 3;
ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry FORCE ROW LEVEL SECURITY;
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession_number_seq', '');
@file rights/rights.sql

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
