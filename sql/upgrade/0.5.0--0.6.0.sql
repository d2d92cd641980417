-- How a database that holds 0.5.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py). Vectors move out of passages
-- into a table of their own, and both are rewritten.
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- Every verb looks at the grants first and holds them to its end: with these in hand no table is waited for in a circle.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

-- What has other arguments or another result, or is no more. All else is replaced in place, so that rights which were
-- granted or revoked on it stay.
DROP VIEW pgmnemo.passages;
DROP FUNCTION pgmnemo._passage_worth, pgmnemo._passages_differ, pgmnemo._write_passages, pgmnemo._unsound_passages,
    pgmnemo._narrowed, pgmnemo._width, pgmnemo._cosine, pgmnemo._exact_limit, pgmnemo._graph_open,
    pgmnemo._claim_graph, pgmnemo._indexed_projects, pgmnemo._vector_index_built, pgmnemo._graph_rows,
    pgmnemo._vector_rows, pgmnemo._nearest_of, pgmnemo._holds_more, pgmnemo.build_vector_index,
    pgmnemo.suspend_vector_index, pgmnemo.share_vector_index, pgmnemo.release_vector_index;
ALTER TYPE pgmnemo.settings ADD ATTRIBUTE vector_recall float8;
ALTER TYPE pgmnemo.lesson_input ALTER ATTRIBUTE embedding TYPE @extschema:vector@.vector,
    ALTER ATTRIBUTE passage_embeddings TYPE @extschema:vector@.vector[];

-- The indexes that served one tenant, or all together, go; each large one gets its own.
DROP INDEX IF EXISTS pgmnemo.passage_scope, pgmnemo.passage_hnsw_384, pgmnemo.passage_hnsw_768,
    pgmnemo.passage_hnsw_1024;
ALTER EXTENSION pgmnemo DROP TABLE pgmnemo.vector_graph;
DROP TABLE pgmnemo.vector_graph;
@file tables/embedding_space.sql
@file tables/graph_seq.sql
@file tables/lesson_vector.sql
@file tables/vector_graph.sql
-- The policies hold for the owner as well.
ALTER TABLE pgmnemo.passage NO FORCE ROW LEVEL SECURITY;
-- A tenant's vectors are as wide as its widest; the others get the zeros back that they were stored without.
INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
SELECT p.tenant_id, 1, max(p.width) FROM pgmnemo.passage p WHERE p.embedding IS NOT NULL GROUP BY p.tenant_id;
INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, indexed, embedding)
SELECT p.tenant_id, s.generation, p.project_id, p.lesson_id, p.number,
       count(*) OVER (PARTITION BY p.tenant_id) > 10000,
       CASE WHEN p.width = s.dimensions THEN p.embedding
            ELSE p.embedding OPERATOR(@extschema:vector@.||)
                 array_fill(0::real, ARRAY[s.dimensions - p.width])::@extschema:vector@.halfvec END
  FROM pgmnemo.passage p JOIN pgmnemo.embedding_space s ON s.tenant_id = p.tenant_id
 WHERE p.embedding IS NOT NULL
 ORDER BY p.tenant_id, p.project_id, p.lesson_id, p.number;
@file tables/lesson_vector_indexes.sql
-- With more vectors than pgmnemo.exact_scan_limit, as it was given: the next merge makes the graph, of these.
INSERT INTO pgmnemo.vector_graph (tenant_id, generation, name)
SELECT v.tenant_id, v.generation, 'graph_' || nextval('pgmnemo.graph_seq')
  FROM (SELECT v.tenant_id, v.generation FROM pgmnemo.lesson_vector v GROUP BY 1, 2 HAVING count(*) > 10000) v;
DO $$
DECLARE
    vectors constant bigint := (SELECT count(*) FROM pgmnemo.lesson_vector);
    padded constant bigint := (SELECT count(*) FROM pgmnemo.passage p
                                 JOIN pgmnemo.embedding_space s ON s.tenant_id = p.tenant_id
                                WHERE p.width < s.dimensions);
    large constant bigint := (SELECT count(*) FROM pgmnemo.vector_graph);
BEGIN
    -- PostgreSQL shows no NOTICE of a script
    IF vectors > 0 THEN
        RAISE WARNING '% vectors were moved into a table of their own, % of them with zeros added: all of a tenant are '
                      'as wide as its widest now', vectors, padded;
    END IF;
    IF large > 0 THEN
        RAISE WARNING '% tenants have more than 10,000 vectors, and no HNSW index yet', large
        USING HINT = 'Call pgmnemo.index(tenant) for each, or pgmnemo.upkeep() until it returns 0; until then they are '
                     'read exactly.';
    END IF;
END
$$;
-- Passages keep their texts alone. To derive a column from itself has the table written without what went.
DELETE FROM pgmnemo.passage p WHERE p.number = 0;
ALTER TABLE pgmnemo.passage
    DROP CONSTRAINT passage_number_check, DROP CONSTRAINT passage_check,
    DROP COLUMN indexed, DROP COLUMN width, DROP COLUMN embedding,
    ALTER COLUMN lexemes TYPE tsvector USING coalesce(lexemes, '');
ALTER TABLE pgmnemo.passage FORCE ROW LEVEL SECURITY,
    ALTER COLUMN content SET NOT NULL, ALTER COLUMN lexemes SET NOT NULL, ADD CHECK (number >= 1);

-- Blocks of postings are taken out otherwise.
DROP FUNCTION pgmnemo._remove_postings, pgmnemo._posting_blocks;
ALTER TYPE pgmnemo.question ADD ATTRIBUTE listed bigint[], ADD ATTRIBUTE tops float8[],
    ADD ATTRIBUTE generation smallint, ADD ATTRIBUTE graph text;
-- Blocks of postings get a key: they are written anew.
DROP INDEX pgmnemo.posting_lexeme;
ALTER TABLE pgmnemo.posting ADD COLUMN first_id bigint;
ALTER TABLE pgmnemo.posting ALTER COLUMN first_id TYPE bigint USING lesson_ids[1], ALTER COLUMN first_id SET NOT NULL;
@file tables/posting_indexes.sql
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_before_insert, ENABLE ALWAYS TRIGGER lesson_after_insert,
    ENABLE ALWAYS TRIGGER lesson_after_update, ENABLE ALWAYS TRIGGER lesson_after_delete;
@file tables/piece.sql
@file tables/piece_lesson.sql
@file tables/piece_project.sql
@file tables/piece_term.sql
@file tables/upkeep_run.sql
@changed
@file views/passages.sql
@file views/vectors.sql
@file views/health.sql
@comments
-- It shows the columns that the table had when it was made.
CREATE OR REPLACE VIEW pgmnemo.postings AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_postings(c.tenant) t
 WHERE c.tenant IS NOT NULL;
ALTER TABLE pgmnemo.piece ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_project ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_term ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.piece USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_lesson USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_project USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_term USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
ALTER TABLE pgmnemo.lesson_vector ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.embedding_space ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.vector_graph ENABLE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.lesson_vector USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.embedding_space USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.embedding_space', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_vector', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.vector_graph', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.graph_seq', '');
@file rights/autovacuum.sql
@file rights/rights.sql

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
