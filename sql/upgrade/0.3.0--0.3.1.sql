-- How a database that holds 0.3.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts the named files of src/ in place of the lines that begin with @ (upgrade/assemble.sh).
-- Its owner is bound by the policies like everyone else, so they let go of it while rows are marked; the lock
-- keeps all others out meanwhile.
-- What is new shall be the extension's owner's, whoever upgrades: a superuser's tables pass the policies.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
LOCK TABLE pgmnemo.passage IN ACCESS EXCLUSIVE MODE;
DROP FUNCTION pgmnemo._unsound_passages;
@replace 20_setting_catalogue.sql
@replace 26_version.sql
@replace 42_add_postings.sql
@replace 54_add_passages.sql
@file 54_holds_more.sql
@replace 54_indexed_projects.sql
@replace 54_write_passages.sql
@replace 67_index_lessons.sql
@replace 85_vector_leg.sql
@replace 92_unsound_passages.sql
@replace 93_check_index.sql

-- Lessons as a whole join their passages in the graphs, which are built at once.
ALTER TABLE pgmnemo.passage NO FORCE ROW LEVEL SECURITY;
DROP INDEX IF EXISTS pgmnemo.passage_hnsw_384, pgmnemo.passage_hnsw_768, pgmnemo.passage_hnsw_1024;
UPDATE pgmnemo.passage p SET indexed = true
 WHERE p.number = 0 AND NOT p.indexed AND p.embedding IS NOT NULL
   AND EXISTS (SELECT FROM pgmnemo.passage q
                WHERE q.tenant_id = p.tenant_id AND q.lesson_id = p.lesson_id AND q.number > 0 AND q.indexed);
SELECT pgmnemo.build_vector_index();
ALTER TABLE pgmnemo.passage FORCE ROW LEVEL SECURITY;
ANALYZE pgmnemo.passage;
SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
