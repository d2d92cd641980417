\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit
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
CREATE OR REPLACE FUNCTION pgmnemo._setting_catalogue()
RETURNS TABLE (name text, initial text, kind text, low float8, high float8, choices text[], meaning text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
VALUES
    ('tenant_id', NULL, 'uuid', NULL::float8, NULL::float8, NULL::text[],
     'tenant that this session works for; needs a grant (pgmnemo.grant_tenant)'),
    ('gate_strict', 'enforce', 'choice', NULL, NULL, '{enforce,warn,off}'::text[],
     'a lesson without commit_sha and artifact_hash: enforce refuses it and hides it from recall, warn stores it with a warning, off stores it silently'),
    ('text_config', 'english', 'text search configuration', NULL, NULL, NULL,
     'how lessons written and questions asked from now on are cut into lexemes'),
    ('statistics_scope', 'tenant', 'choice', NULL, NULL, '{tenant,project}',
     'lessons over which BM25 counts: all active lessons of the tenant, or those of the project asked'),
    ('bm25_k1', '0.9', 'number', 0, 10, NULL, 'BM25: how slowly repetitions of a term saturate'),
    ('bm25_b', '0.4', 'number', 0, 1, NULL, 'BM25: how much a long lesson is held against it'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('passage_terms_weight', '0.75', 'number', 0, 100, NULL,
     'score of one unit of the terms that stand together in the best passage'),
    ('passage_term_bonus', '2', 'number', 0, 100, NULL, 'what a term counts there besides its inverse document frequency'),
    ('passage_cosine_weight', '18', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the best passage'),
    ('pair_cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a mean cosine similarity of 1 of the two best passages'),
    ('cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the lesson as a whole'),
    ('temporal_weight', '10', 'number', 0, 1000, NULL, 'score of a lesson of just the time that the question names'),
    ('context_weight', '1', 'number', 0, 100, NULL,
     'share of the relevance of the most relevant lesson of the same project and moment that a lesson gains'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '30', 'whole number', 1, 10000, NULL, 'candidates taken from each leg; at least k are'),
    ('exact_scan_limit', '10000', 'whole number', 0, 10000000, NULL,
     'lessons in a scope up to which vectors are scanned exactly; beyond it new lessons enter the HNSW index'),
    ('ef_search', '200', 'whole number', 1, 1000, NULL, 'hnsw.ef_search while the HNSW index is scanned')
$$;
CREATE OR REPLACE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.3.1' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
-- Appends the posting blocks of these active lessons of one tenant, ids ascending within each. One lesson's are of
-- one posting each, and need not be gathered.
CREATE OR REPLACE FUNCTION pgmnemo._add_postings(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(ids) = 1 THEN
        INSERT INTO pgmnemo.posting
        SELECT tenant, l.project_id, u.lexeme, ids, ARRAY[u.frequency], ARRAY[l.token_count], 1, l.token_count, u.frequency,
               l.token_count
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ids[1] AND l.active;
        RETURN;
    END IF;
    WITH lists AS (
        SELECT l.project_id, u.lexeme, array_agg(l.id ORDER BY l.id) AS ids,
               array_agg(u.frequency ORDER BY l.id) AS frequencies,
               array_agg(l.token_count ORDER BY l.id) AS token_counts
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ANY (_add_postings.ids) AND l.active
         GROUP BY l.project_id, u.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
END
$$;
CREATE OR REPLACE FUNCTION pgmnemo.add_passages(lesson_id bigint, passages text[], passage_embeddings vector[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    problem text := pgmnemo._passages_problem(passages, passage_embeddings);
    one pgmnemo.lesson_input;
    large uuid[];
BEGIN
    IF problem IS NOT NULL OR coalesce(cardinality(passages), 0) = 0 THEN
        RAISE EXCEPTION 'lesson % %', add_passages.lesson_id, coalesce(problem, 'is given no passages')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT l.project_id, l.external_id INTO one.project_id, one.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.id = add_passages.lesson_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no lesson %', add_passages.lesson_id USING ERRCODE = 'no_data_found';
    ELSIF EXISTS (SELECT FROM pgmnemo.passage p
                   WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.number > 0) THEN
        RETURN false;
    END IF;
    one.passages := passages;
    one.passage_embeddings := passage_embeddings;
    SELECT array_agg(p.project_id) INTO large FROM pgmnemo.passage p
     WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.indexed;
    PERFORM pgmnemo._write_passages(tenant, ARRAY[add_passages.lesson_id], ARRAY[one], coalesce(large, '{}'));
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.add_passages(bigint, text[], vector[]) IS 'gives a lesson that has no passages these, with a vector of 1,024 dimensions for each or none; returns false, and changes nothing, where it has some';
-- Whether a scope holds more active lessons than that. Its first blocks are its oldest, hence full, and say it at
-- once where it holds many more.
CREATE FUNCTION pgmnemo._holds_more(tenant uuid, first_project uuid, last_project uuid, than bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held bigint;
BEGIN
    SELECT sum(b.lesson_count) INTO held
      FROM (SELECT p.lesson_count FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project
             LIMIT 100 + greatest(than, 0) / 100) b;
    IF held > than THEN
        RETURN true;
    END IF;
    SELECT coalesce(sum(p.lesson_count), 0) INTO held
      FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project;
    RETURN held > than;
END
$$;
-- Projects of the set whose lessons belong in the HNSW index: their scope, these included, is past the exact
-- scan. A tenant is held to ten times a project's limit, so that many small projects stay out of the index.
CREATE OR REPLACE FUNCTION pgmnemo._indexed_projects(tenant uuid, lessons pgmnemo.lesson_input[], exact_scan_limit bigint)
RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(c.project_id), '{}')
      FROM (SELECT i.project_id, count(*) AS n FROM unnest(lessons) i WHERE i.embedding IS NOT NULL GROUP BY 1) c
     WHERE pgmnemo._holds_more(tenant, c.project_id, c.project_id, exact_scan_limit - c.n)
        OR pgmnemo._holds_more(tenant, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
                               10 * exact_scan_limit)
$$;
-- The vectors and passages of these lessons of one tenant, as the set gives them. A lesson whose passages the set
-- leaves open keeps those that it has. Vectors of `large` projects enter the HNSW index.
CREATE OR REPLACE FUNCTION pgmnemo._write_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[], large uuid[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, indexed, width, content, lexemes, embedding)
    SELECT tenant, l.project_id, l.id, w.number, w.embedding IS NOT NULL AND l.project_id = ANY (large),
           vector_dims(w.embedding), w.content, pgmnemo._lexemes(l.text_config::regconfig, w.content), w.embedding
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL (
            SELECT 0, NULL, pgmnemo._narrowed(i.embedding) WHERE i.embedding IS NOT NULL
             UNION ALL
            SELECT p.number, p.content, pgmnemo._narrowed(i.passage_embeddings[p.number])
              FROM unnest(i.passages) WITH ORDINALITY AS p (content, number)) AS w (number, content, embedding)
     WHERE l.id = ANY (ids)
$$;
CREATE OR REPLACE FUNCTION pgmnemo.index_lessons()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    size_limit bigint := (pgmnemo._settings() ->> 'exact_scan_limit')::float8;
    entered bigint;
BEGIN
    WITH held AS (
        SELECT p.project_id, sum(p.lesson_count) AS n
          FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lexeme = '' GROUP BY 1
    )
    UPDATE pgmnemo.passage p SET indexed = true
     WHERE p.tenant_id = tenant AND p.embedding IS NOT NULL AND NOT p.indexed
       AND ((SELECT sum(h.n) FROM held h) > size_limit
            OR p.project_id IN (SELECT h.project_id FROM held h WHERE h.n > size_limit));
    GET DIAGNOSTICS entered = ROW_COUNT;
    RETURN entered;
END
$$;

COMMENT ON FUNCTION pgmnemo.index_lessons() IS 'brings vectors that were written before their project, or the whole tenant, grew beyond pgmnemo.exact_scan_limit into the HNSW index; returns how many. Worth it where the whole tenant is recalled from, or a project grew slowly';
-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE OR REPLACE FUNCTION pgmnemo._vector_leg(tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, depth integer,
                                    s jsonb, asked_role text, valid_time timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    large boolean := asked.held > pgmnemo._exact_limit((s ->> 'exact_scan_limit')::float8);
    most integer := 4 * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    END IF;
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(tenant, first_project, last_project, asked.direction,
                                              (s ->> 'ef_search')::float8::integer, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(tenant, first_project, last_project, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM lessons n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = tenant AND l.id = n.lesson_id
                               AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= 16 * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * 8, 2000000000);
    END LOOP;
    RETURN found_ids;
END
$$;
-- Passages that are not as the verbs write them, beside what they should be. Half precision leaves a unit vector
-- at most 0.0005 too long or too short.
CREATE OR REPLACE FUNCTION pgmnemo._unsound_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector, norm float8,
               embedding halfvec, indexed boolean, lexemes_differ boolean, vector_differs boolean, indexed_differs boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, v.norm, r.embedding, i.indexed,
           p.lexemes IS DISTINCT FROM f.fresh, p.embedding IS DISTINCT FROM r.embedding, p.indexed <> i.indexed
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (
            SELECT CASE WHEN pg_input_is_valid(l.text_config, 'regconfig')
                        THEN pgmnemo._lexemes(l.text_config::regconfig, p.content) ELSE p.lexemes END OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (
            SELECT l2_norm(p.embedding),
                   CASE WHEN p.width = 384 THEN 384
                        WHEN l2_norm(subvector(p.embedding, 385, p.width - 384)) = 0 THEN 384
                        WHEN p.width = 768 THEN 768
                        WHEN l2_norm(subvector(p.embedding, 769, 256)) = 0 THEN 768
                        ELSE 1024 END) AS v (norm, width)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN v.norm NOT BETWEEN 0.999 AND 1.001 THEN l2_normalize(subvector(p.embedding, 1, v.width))
                        ELSE subvector(p.embedding, 1, v.width) END) AS r (embedding)
     CROSS JOIN LATERAL (SELECT p.indexed AND p.embedding IS NOT NULL) AS i (indexed)
     WHERE p.tenant_id = tenant
       AND (p.project_id, p.lexemes, p.embedding, p.indexed)
           IS DISTINCT FROM (l.project_id, f.fresh, r.embedding, i.indexed)
$$;
CREATE OR REPLACE FUNCTION pgmnemo.check_index()
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
BEGIN
    RETURN QUERY
    SELECT w.problem, s.project_id, s.lesson_id, NULL, w.found, w.wanted
      FROM pgmnemo._stale_lessons(tenant) s
     CROSS JOIN LATERAL (VALUES
            ('lesson with unknown text_config', s.text_config, NULL, s.config IS NULL),
            ('lesson with stale lexemes', s.lexemes::text, s.fresh::text, s.config IS NOT NULL AND s.lexemes <> s.fresh),
            ('lesson with wrong token_count', s.token_count::text, s.tokens::text,
             s.config IS NOT NULL AND s.token_count <> s.tokens)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT w.problem, p.project_id, p.lesson_id, p.number::text, w.found, w.wanted
      FROM pgmnemo._unsound_passages(tenant) p
     CROSS JOIN LATERAL (VALUES
            ('passage in another project', p.project_id::text, p.in_project::text, p.project_id <> p.in_project),
            ('passage with stale lexemes', NULL, p.fresh::text, p.lexemes_differ),
            ('passage with a vector not of unit length', p.norm::text, '1', p.norm NOT BETWEEN 0.999 AND 1.001),
            ('passage with a vector wider than needed', NULL, vector_dims(p.embedding)::text,
             p.vector_differs AND p.norm BETWEEN 0.999 AND 1.001),
            ('passage indexed without a vector', 't', 'f', p.indexed_differs)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY SELECT * FROM pgmnemo._block_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._posting_problems(tenant);
END
$$;

COMMENT ON FUNCTION pgmnemo.check_index() IS 'what is wrong in what the tenant''s lessons are found by, one row a problem, none when all is well. lesson: lexemes or token_count are not what the text gives under the lesson''s text_config; passage (item: its number): in another project than its lesson, lexemes not those of its text, a vector not of unit length or wider than needed, or indexed without a vector; block (item: its lexeme, lesson_id: its first): order, sums or extremes wrong; posting (item: the lexeme, empty for the list of all lessons): missing, surplus, more than once, or with wrong numbers. Reads everything of the tenant; pgmnemo.repair_index() mends it';

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
