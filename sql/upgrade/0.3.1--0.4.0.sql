-- How a database that holds 0.3.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades: a superuser's tables pass the policies.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- From here on verbs run with their owner's rights: what a stranger put into the schema must not.
DO $$
DECLARE
    trusted oid[] := ARRAY(SELECT e.extowner FROM pg_extension e WHERE e.extname = 'pgmnemo'
                            UNION SELECT r.oid FROM pg_roles r WHERE r.rolsuper);
    planted text;
BEGIN
    SELECT string_agg(o.name, ', ' ORDER BY o.name) INTO planted
      FROM (SELECT 'schema pgmnemo' AS name, n.nspowner AS owner FROM pg_namespace n WHERE n.nspname = 'pgmnemo'
             UNION ALL
            SELECT p.oid::regprocedure::text, p.proowner FROM pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace
             UNION ALL
            SELECT c.oid::regclass::text, c.relowner FROM pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace
             UNION ALL
            SELECT t.oid::regtype::text, t.typowner FROM pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace
             UNION ALL
            SELECT o.oid::regoperator::text, o.oprowner FROM pg_operator o
             WHERE o.oprnamespace = 'pgmnemo'::regnamespace) o
     WHERE o.owner <> ALL (trusted);
    IF planted IS NOT NULL THEN
        RAISE EXCEPTION 'not the extension''s owner''s, and could run in place of ours: %', planted
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Look at them, then drop or move them; ALTER SCHEMA pgmnemo OWNER TO the extension''s owner.';
    END IF;
END
$$;
@file guard/schema_rights.sql
LOCK TABLE pgmnemo.tenant_grant, pgmnemo.lesson, pgmnemo.lesson_edge, pgmnemo.passage, pgmnemo.posting
    IN ACCESS EXCLUSIVE MODE;

-- What 0.4.0 no longer has, or has with other arguments or another result. All else is replaced in place, so that rights
-- which were granted or revoked on it stay.
DROP POLICY own_tenant ON pgmnemo.lesson;
DROP POLICY own_tenant ON pgmnemo.lesson_edge;
DROP POLICY own_tenant ON pgmnemo.passage;
DROP POLICY own_tenant ON pgmnemo.posting;
DROP POLICY own_grants ON pgmnemo.tenant_grant;
DROP POLICY owner_grants ON pgmnemo.tenant_grant;
DROP FUNCTION pgmnemo._ask, pgmnemo._best_sums, pgmnemo._candidates, pgmnemo._explain_passages, pgmnemo._explain_recallable,
    pgmnemo._exact_limit, pgmnemo._explain_score, pgmnemo._explain_terms, pgmnemo._fill, pgmnemo._graph_leg, pgmnemo._graph_proximity,
    pgmnemo._graph_rows, pgmnemo._graph_seed, pgmnemo._impact, pgmnemo._keyword_leg, pgmnemo._lesson_sum, pgmnemo._list_parts,
    pgmnemo._lock_postings, pgmnemo._passage_worth, pgmnemo._pool, pgmnemo._pool_scores, pgmnemo._recallable,
    pgmnemo._settings, pgmnemo._tenant, pgmnemo._terms_within, pgmnemo._vector_leg, pgmnemo._vector_rows,
    pgmnemo.current_tenant, pgmnemo.open_staging, pgmnemo.recall_lessons, pgmnemo.store_lesson;
DROP TYPE pgmnemo.weights, pgmnemo.question, pgmnemo.candidate;

ALTER TYPE pgmnemo.lesson_input ADD ATTRIBUTE position integer CASCADE;
@file types/caller.sql
@file types/candidate.sql
@file types/question.sql
@file types/scope.sql
@file types/settings.sql
@file tables/caller_key.sql
@file tables/tenant.sql
@file tables/vector_graph.sql
@file tables/vector_graph_one.sql
ALTER TABLE pgmnemo.lesson ADD COLUMN position integer;
@file tables/lesson_position.sql
@file tables/lesson_unproven.sql

-- Grants go by role, no longer by name. The name of a role that is gone would let in whoever takes it next.
ALTER TABLE pgmnemo.tenant_grant NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;
DO $$
DECLARE
    gone text := (SELECT string_agg(DISTINCT quote_ident(g.grantee), ', ') FROM pgmnemo.tenant_grant g
                   WHERE to_regrole(quote_ident(g.grantee)) IS NULL);
BEGIN
    IF gone IS NOT NULL THEN
        RAISE WARNING 'grants of roles that no longer exist end here: %', gone;
    END IF;
END
$$;
DELETE FROM pgmnemo.tenant_grant g WHERE to_regrole(quote_ident(g.grantee)) IS NULL;
ALTER TABLE pgmnemo.tenant_grant ALTER COLUMN grantee TYPE regrole USING to_regrole(quote_ident(grantee));
-- Whoever is in the HNSW indexes stays there.
ALTER TABLE pgmnemo.passage NO FORCE ROW LEVEL SECURITY;
INSERT INTO pgmnemo.vector_graph
SELECT CASE WHEN count(*) = 1 THEN (array_agg(t.tenant_id))[1] END, count(*) > 1
  FROM (SELECT DISTINCT p.tenant_id FROM pgmnemo.passage p WHERE p.indexed) t HAVING count(*) > 0;
ALTER TABLE pgmnemo.passage FORCE ROW LEVEL SECURITY;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared) THEN
        RAISE WARNING 'the HNSW indexes hold vectors of several tenants, who can measure one another''s by counting the '
                      'rows that their calls meet'
        USING HINT = 'Where they must not, give each a database, or call pgmnemo.suspend_vector_index().';
    END IF;
END
$$;

@changed
@comments
@file views/calling.sql
@file views/edges.sql
@file views/lessons.sql
@file views/passages.sql
@file views/postings.sql
@file rights/policies.sql
@file rights/rights.sql
@file rights/dump.sql

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
