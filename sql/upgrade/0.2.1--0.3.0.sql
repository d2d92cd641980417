-- How a database that holds 0.2.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts the named files of src/ in place of the lines that begin with @ (upgrade/assemble.sh).
-- Its owner is bound by the policies like everyone else, so they let go of it while rows are moved; the locks
-- keep all others out meanwhile.
-- What is new shall be the extension's owner's, whoever upgrades: a superuser's tables pass the policies.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
LOCK TABLE pgmnemo.tenant_grant, pgmnemo.lesson, pgmnemo.lesson_edge, pgmnemo.posting IN ACCESS EXCLUSIVE MODE;
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.posting NO FORCE ROW LEVEL SECURITY;

-- What 0.3.0 no longer has, or has with other arguments or another result. All else is replaced in place, so that
-- rights which were granted or revoked on it stay.
DROP FUNCTION pgmnemo.recall_lessons, pgmnemo.store_lesson, pgmnemo._bm25, pgmnemo._check_recall, pgmnemo._graph_leg,
    pgmnemo._keyword_leg, pgmnemo._keyword_scores, pgmnemo._keyword_statistics, pgmnemo._nearest, pgmnemo._nearest_exact,
    pgmnemo._nearest_indexed, pgmnemo._posting_blocks, pgmnemo._relevance, pgmnemo._relevances, pgmnemo._score;

ALTER TYPE pgmnemo.lesson_input ADD ATTRIBUTE passages text[] CASCADE, ADD ATTRIBUTE passage_embeddings vector(1024)[] CASCADE;
@comments 17_lesson_input.sql
@file 18_passage.sql
@file 74_weights.sql
@file 75_candidate.sql
@file 75_question.sql
@functions

-- Vectors move out of the lessons, which are written anew once, without room for them, and with today's lexemes.
INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, indexed, width, embedding)
SELECT l.tenant_id, l.project_id, l.id, 0, l.indexed, vector_dims(n.embedding), n.embedding
  FROM pgmnemo.lesson l CROSS JOIN LATERAL (SELECT pgmnemo._narrowed(l.embedding) OFFSET 0) AS n (embedding)
 WHERE l.embedding IS NOT NULL
 ORDER BY l.tenant_id, l.project_id, l.id;

CREATE FUNCTION pgmnemo._upgraded(cut tsvector, config text, topic text, content text)
RETURNS tsvector
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN config IN ('english', 'pg_catalog.english')
                THEN pgmnemo._lexemes('pg_catalog.english', concat_ws(E'\n', topic, content)) ELSE cut END
$$;
CREATE FUNCTION pgmnemo._upgraded_count(cut tsvector)
RETURNS integer
LANGUAGE sql STABLE
AS $$ SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(cut) u $$;
DROP TRIGGER lesson_before_update ON pgmnemo.lesson;
ALTER TABLE pgmnemo.lesson
    ALTER COLUMN lexemes TYPE tsvector USING pgmnemo._upgraded(lexemes, text_config, topic, content),
    ALTER COLUMN token_count TYPE integer
        USING pgmnemo._upgraded_count(pgmnemo._upgraded(lexemes, text_config, topic, content)),
    DROP COLUMN embedding,
    DROP COLUMN indexed,
    RESET (toast_tuple_target);
DROP FUNCTION pgmnemo._upgraded, pgmnemo._upgraded_count;
@replace 40_lesson_before_write.sql
@comments 10_lesson.sql

TRUNCATE pgmnemo.posting;
DROP INDEX pgmnemo.posting_lexeme;
ALTER TABLE pgmnemo.posting ADD COLUMN max_frequency smallint NOT NULL, ADD COLUMN min_tokens integer NOT NULL;
@comments 14_posting.sql
-- In sets of 10,000 lessons of one tenant, which is what a sort in memory takes.
SELECT pgmnemo._add_postings(s.tenant_id, s.ids)
  FROM (SELECT l.tenant_id, array_agg(l.id ORDER BY l.id) AS ids
          FROM (SELECT tenant_id, id, (row_number() OVER (PARTITION BY tenant_id ORDER BY id) - 1) / 10000 AS part
                  FROM pgmnemo.lesson WHERE active) l
         GROUP BY l.tenant_id, l.part
         ORDER BY l.tenant_id, l.part) s;
@file 15_posting_lexeme.sql
@file 19_passage_indexes.sql

ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.posting FORCE ROW LEVEL SECURITY;
@file 35_passage_security.sql
DROP POLICY own_grants ON pgmnemo.tenant_grant;
DROP POLICY owner_grants ON pgmnemo.tenant_grant;
@file 32_tenant_grant_security.sql
@file 99_dump.sql

ANALYZE pgmnemo.lesson, pgmnemo.passage, pgmnemo.posting;
SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
