\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit
-- How a database that holds 0.4.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py). No table, no row and no answer
-- changes: recall takes less time, `list_bare` is new, and an id that is taken is no longer passed over.
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- Who comes from 0.3.1 hears here what a new installation says.
-- halfvec and iterative scans came with pgvector 0.8.0.
DO $$
DECLARE
    given text := (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector');
    numbers integer[] := string_to_array(substring(given FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.');
BEGIN
    IF numbers < '{0,8,0}' THEN
        RAISE EXCEPTION 'pgvector is %, but must be 0.8.0 or later', given
        USING ERRCODE = 'feature_not_supported', HINT = 'Install a later one and run ALTER EXTENSION vector UPDATE.';
    ELSIF numbers < '{0,8,4}' THEN
        RAISE WARNING 'pgvector is %: before 0.8.4 its HNSW indexes can be spoiled, so every scope is read exactly',
              given
        USING HINT = 'Recall is right, but slow beyond some 10,000 lessons a scope, until pgvector is updated.';
    END IF;
END
$$;

-- What has other arguments or another result. All else is replaced in place, so that rights which were granted or
-- revoked on it stay.
DROP FUNCTION pgmnemo._lesson_terms, pgmnemo._ranked, pgmnemo._score;
-- The settings as they are where nobody changed one. Immutable, so that a plan holds what it gives.
CREATE OR REPLACE FUNCTION pgmnemo._initial_settings()
RETURNS pgmnemo.settings
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_populate_record(NULL::pgmnemo.settings, jsonb_object_agg(c.name, c.initial))
      FROM pgmnemo._setting_catalogue() c
$$;
-- Every setting, typed; the first that cannot be used is an error that names its range. PostgreSQL cannot check a
-- custom setting when it is SET, so each use checks. Most are as they were made, and those cost nothing but a look.
CREATE OR REPLACE FUNCTION pgmnemo._settings()
RETURNS pgmnemo.settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed jsonb;
    wrong record;
BEGIN
    SELECT jsonb_object_agg(c.name, g.value) INTO changed
      FROM pgmnemo._setting_catalogue() c
     CROSS JOIN LATERAL (SELECT nullif(current_setting('pgmnemo.' || c.name, true), '') OFFSET 0) AS g (value)
     WHERE g.value <> c.initial;
    IF changed IS NULL THEN
        RETURN pgmnemo._initial_settings();
    END IF;
    SELECT c.* INTO wrong
      FROM pgmnemo._setting_catalogue() c
     WHERE changed ? c.name
       AND NOT pgmnemo._setting_valid(changed ->> c.name, c.kind, c.low, c.high, c.choices)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'pgmnemo.% is %, but must be %', wrong.name, quote_literal(changed ->> wrong.name),
              pgmnemo._setting_range(wrong.kind, wrong.low, wrong.high, wrong.choices)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('SET pgmnemo.%s to a value in that range, or RESET it.', wrong.name);
    END IF;
    RETURN jsonb_populate_record(pgmnemo._initial_settings(), changed);
END
$$;
-- What the policies go by: the tenant of the verb that runs, and between verbs none. Nobody but the extension's owner
-- may call it, so that whoever reads all data by some other right is refused, whatever he sets. It becomes a part of
-- each statement that asks the policies, so it names the schema of all that it uses in place of a search path.
CREATE OR REPLACE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_catalog.current_setting('pgmnemo.acting_tenant', true) OPERATOR(pg_catalog.<>) ''
                THEN pg_catalog.current_setting('pgmnemo.acting_tenant', true)::pg_catalog.uuid END
$$;
-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed:
-- writers who all keep to this sequence wait for one another but never in a circle. Only a key that is there already is
-- passed over: an id that is taken, by a sequence that was set back, is an error.
CREATE OR REPLACE FUNCTION pgmnemo._store(tenant uuid, lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings := pgmnemo._settings();
    large uuid[];
    inserted bigint[];
    changed bigint[];
    outcomes text[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    PERFORM pgmnemo._check_provenance(lessons, s.gate_strict);
    large := pgmnemo._indexed_projects(tenant, lessons, s.exact_scan_limit);
    IF cardinality(large) > 0 AND NOT pgmnemo._claim_graph(tenant) THEN
        large := '{}';
    END IF;

    WITH fresh AS (
        INSERT INTO pgmnemo.lesson (
               tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at, expires_at,
               commit_sha, artifact_hash, verified_at, position)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at,
               i.position
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    PERFORM pgmnemo._write_passages(tenant, inserted, lessons, large);

    IF cardinality(inserted) < cardinality(lessons) THEN
        SELECT array_agg(l.id), array_agg(CASE WHEN l.active THEN 'updated' ELSE 'restored' END) INTO changed, outcomes
          FROM pgmnemo.lesson l
          JOIN unnest(lessons) i USING (project_id, external_id)
         WHERE l.tenant_id = tenant AND l.id <> ALL (inserted)
           AND ((l.role, l.topic, l.content, l.importance, l.metadata, l.occurred_at, l.expires_at,
                 l.commit_sha, l.artifact_hash, l.verified_at, l.position, l.active)
                IS DISTINCT FROM
                (i.role, i.topic, i.content, coalesce(i.importance, 3::smallint), coalesce(i.metadata, '{}'),
                 i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at, i.position, true)
                OR pgmnemo._passages_differ(tenant, l.id, i.embedding, i.passages, i.passage_embeddings));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = coalesce(i.importance, 3::smallint),
               metadata = coalesce(i.metadata, '{}'), occurred_at = i.occurred_at, expires_at = i.expires_at,
               commit_sha = i.commit_sha, artifact_hash = i.artifact_hash, verified_at = i.verified_at,
               position = i.position, active = true
          FROM unnest(lessons) i
         WHERE l.tenant_id = tenant AND l.id = ANY (changed)
           AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._clear_passages(tenant, changed, lessons);
        PERFORM pgmnemo._write_passages(tenant, changed, lessons, large);
    END IF;

    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM ROWS FROM (unnest(lessons)) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position, ordinal)
      LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id
                        AND l.external_id = i.external_id
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;
-- The whole BM25 (in units of 2^-40) of the most promising of these lessons that may be recalled, best first: of those
-- `most` that have the highest totals so far, or of all.
CREATE OR REPLACE FUNCTION pgmnemo._best_sums(scope pgmnemo.scope, asked pgmnemo.question, ids bigint[], totals float8[],
                                   most integer)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, t.total
      FROM (SELECT h.id FROM (SELECT unnest(ids) AS id, unnest(totals) AS total) h
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
      JOIN pgmnemo.lesson l ON l.tenant_id = (scope).tenant AND l.id = h.id
     CROSS JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, 0, NULL) t
     WHERE pgmnemo._recallable(l, scope)
     ORDER BY t.total DESC, l.external_id, l.project_id
$$;
-- Of a lesson as a whole its BM25 (in units of 2^-40) unless that is known already, and what the question's terms in it
-- are worth where it has no passages: it may be long for good reason, so its length is held against it by half only
-- (pgmnemo._terms_within). Its vector of lexemes is unpacked once: to join it with nothing does that. With weights of 1
-- the cover density of one term is the number of times that it stands there.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_terms(lexemes tsvector, tokens integer, asked pgmnemo.question, bonus float8,
                                      known float8)
RETURNS TABLE (total float8, worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(known, sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', u.whole, t.query), (asked).flat,
                                               (asked).per_token, tokens, (asked).pivot))
                               FILTER (WHERE known IS NULL), 0),
           coalesce(sum(t.idf + bonus), 0) * sqrt(least(1, (asked).pivot / greatest(max(length(u.whole)), 1)))
      FROM (SELECT lexemes || '' AS whole OFFSET 0) AS u
      JOIN unnest((asked).queries, (asked).scales, (asked).idfs) AS t (query, scale, idf) ON u.whole @@ t.query
$$;
-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE OR REPLACE FUNCTION pgmnemo._vector_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    vectors_each constant integer := 4;    -- vectors asked for at first for each lesson wanted
    more_times   constant integer := 8;    -- how many times as many are asked for where they were too few
    graph_most   constant integer := 16;   -- vectors for each lesson wanted up to which the graphs are asked
    all_of_them  constant bigint := 2000000000;
    large boolean;
    most integer := vectors_each * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    END IF;
    -- never below the setting, so what is smaller need not ask
    large := asked.held > s.exact_scan_limit
             AND asked.held > pgmnemo._exact_limit(scope.tenant, s.exact_scan_limit);
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(scope, asked.direction, s.ef_search, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(scope, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM (SELECT * FROM lessons ORDER BY distance OFFSET 0) n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = scope.tenant AND l.id = n.lesson_id AND pgmnemo._recallable(l, scope)
                            OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= graph_most * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * more_times, all_of_them);
    END LOOP;
    RETURN found_ids;
END
$$;
-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none.
CREATE OR REPLACE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 768);
    timed boolean := cardinality(asked.since) > 0;
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   p.own, coalesce(g.total, t.total) / pgmnemo._unit(),
                   CASE WHEN p.passages > 0 THEN p.terms ELSE t.worth END,
                   coalesce(p.best, p.own),
                   coalesce((p.best + CASE WHEN cardinality(p.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(p.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE p.best END) / 2, p.own),
                   CASE WHEN timed THEN pgmnemo._temporal(l.occurred_at, asked.since, asked.until) ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = g.id OFFSET 0) l
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms,
                       max(v.number) AS passages, max(v.cosine) FILTER (WHERE v.number > 0) AS best,
                       array_agg(v.cosine) FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT r.number, pgmnemo._bounded(r.cosine) AS cosine,
                               CASE WHEN by_words AND r.number > 0
                                    THEN (SELECT t.worth
                                            FROM pgmnemo._terms_within(r.lexemes, asked, s.passage_term_bonus) t)
                               END AS terms
                          FROM (SELECT p.number, p.lexemes,
                                       -(p.embedding OPERATOR(@extschema:vector@.<#>)
                                         CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle
                                                      ELSE asked.direction END) AS cosine
                                  FROM pgmnemo.passage p
                                 WHERE p.tenant_id = scope.tenant AND p.lesson_id = l.id OFFSET 0) r OFFSET 0) v) p
          LEFT JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, s.passage_term_bonus,
                                                 g.total) t
            ON by_words AND (g.total IS NULL OR p.passages IS NULL OR p.passages = 0));
END
$$;
-- Every part of the score in the order of the sum, for those who show or fit it.
CREATE OR REPLACE FUNCTION pgmnemo._contributions(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ARRAY[o.bm25, o.passage_terms, o.passage_cosine, o.pair_cosine, o.cosine, o.temporal,
                 l.context, l.neighbours, l.recency, l.importance, l.graph]
      FROM pgmnemo._own_parts(c, s) o CROSS JOIN pgmnemo._lent_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._contributions IS 'what bm25, passage_terms, passage_cosine, pair_cosine, cosine, temporal, context, neighbours, recency, importance and graph add to the score of a candidate, in this order';
-- The other half of the score: what comes to a candidate from others, and what it has whatever is asked.
CREATE OR REPLACE FUNCTION pgmnemo._lent_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (context float8, neighbours float8, recency float8, importance float8, graph float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (s).context_weight * (c).context,
           (s).neighbours_weight * (c).neighbours,
           (s).recency_weight * (c).recency,
           (s).importance_weight * (c).importance,
           (s).graph_weight * (c).graph
$$;
-- The score has one home, this function and _lent_parts: here what a candidate's own components add to it, in the order
-- in which they are summed up. A leg that was not asked adds nothing. A row rather than an array: it costs nothing.
CREATE OR REPLACE FUNCTION pgmnemo._own_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (bm25 float8, passage_terms float8, passage_cosine float8, pair_cosine float8, cosine float8,
               temporal float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pgmnemo._share(c, s) * (s).bm25_weight * coalesce((c).bm25, 0),
           pgmnemo._share(c, s) * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
           pgmnemo._share(c, s) * (s).passage_cosine_weight * greatest((c).passage_cosine, 0),
           pgmnemo._share(c, s) * (s).pair_cosine_weight * greatest((c).pair_cosine, 0),
           pgmnemo._share(c, s) * (s).cosine_weight * greatest((c).cosine, 0),
           pgmnemo._share(c, s) * (s).temporal_weight * (c).temporal
$$;
-- Every candidate with what comes to it from others and its score, by which it ranks; ties go by external id, then by
-- project. context: the greatest relevance among those of the same project and the same moment. In one query with
-- whoever calls it, so that nothing is made into records and taken apart again.
CREATE OR REPLACE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (score float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.score, o.own
      FROM (SELECT v.*,
                   CASE WHEN v.occurred_at IS NULL THEN v.relevance
                        ELSE max(v.relevance) OVER (PARTITION BY v.project_id, v.occurred_at) END AS around,
                   coalesce(n.neighbours, 0) AS beside, coalesce(g.graph, 0) AS along
              FROM (SELECT c.*, r.relevance FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                    OFFSET 0) v
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id) d
     CROSS JOIN LATERAL (
            SELECT ROW(d.lesson_id, d.project_id, d.external_id, d.occurred_at, d.place, d.words, d.assistant, d.cosine,
                       d.bm25, d.passage_terms, d.passage_cosine, d.pair_cosine, d.temporal, d.around, d.beside,
                       d.recency, d.importance, d.along)::pgmnemo.candidate) AS o (own)
     CROSS JOIN LATERAL pgmnemo._score(d.relevance, o.own, s) x
$$;
-- What a candidate is worth by itself: the first six of its contributions.
CREATE OR REPLACE FUNCTION pgmnemo._relevance(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (relevance float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT o.bm25 + o.passage_terms + o.passage_cosine + o.pair_cosine + o.cosine + o.temporal
      FROM pgmnemo._own_parts(c, s) o
$$;

COMMENT ON FUNCTION pgmnemo._relevance IS 'what a candidate is worth without context, neighbours, recency, importance and graph';
-- The scope of a recall: one project, or with NULL all of the tenant. Nothing in it depends on the search path, so it
-- fixes none and costs no call.
CREATE OR REPLACE FUNCTION pgmnemo._scope(tenant uuid, project uuid, gate text DEFAULT 'off', role text DEFAULT NULL,
                               valid_at timestamptz DEFAULT NULL)
RETURNS pgmnemo.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ROW(tenant, coalesce(project, '00000000-0000-0000-0000-000000000000'),
               coalesce(project, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), gate, role, valid_at)::pgmnemo.scope
$$;
-- The sum of all contributions in their order, of which the first six are summed up already.
CREATE OR REPLACE FUNCTION pgmnemo._score(relevance float8, c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (score float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT relevance + l.context + l.neighbours + l.recency + l.importance + l.graph
      FROM pgmnemo._lent_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._score IS 'the score by which recall ranks: the sum of a candidate''s contributions';
CREATE OR REPLACE FUNCTION pgmnemo.explain(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(explain.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN explain.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(explain.embedding) END;
    words text := CASE WHEN explain.mode IS DISTINCT FROM 'vector' THEN explain.query_text END;
    home uuid := coalesce(explain.in_project, explain.project_id);
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    found record;
    ways text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(explain.k, explain.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    IF home IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    s := pgmnemo._settings();
    scope := pgmnemo._scope(tenant, explain.project_id, s.gate_strict, explain.role, explain.valid_at);
    wanted := pgmnemo._lesson_id(tenant, home, explain.external_id);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    asked := pgmnemo._ask(scope, words, meaning, moment, s);
    pool := pgmnemo._pool(scope, asked, s, explain.k, words IS NOT NULL, moment, l.id);
    SELECT row_number() OVER (ORDER BY r.score DESC, (r.own).external_id, (r.own).project_id) AS rank,
           r.score, r.own, count(*) OVER () AS all_of_them INTO found
      FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
     ORDER BY (r.own).lesson_id <> l.id LIMIT 1;
    ways := pgmnemo._ways(l, scope, pool.by_keyword, pool.by_vector, pool.filled, pool.added, pool.linked);

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN found.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', found.rank, found.all_of_them)
              ELSE format('of %s candidates', found.all_of_them)
                   || CASE WHEN found.rank > explain.k THEN '; beyond k = ' || explain.k ELSE '' END END),
        ('answer', 'score', found.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest(s.pool_depth, explain.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(l, scope);
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, found.own, pgmnemo._context_seed(pool.candidates, found.own, s),
        CASE WHEN (found.own).graph > 0 THEN pgmnemo._graph_seed(scope, pool.candidates, pool.seeds, l.id, s) END,
        s, moment);
    RETURN QUERY SELECT * FROM pgmnemo._explain_terms(l, words, asked, s);
    RETURN QUERY SELECT * FROM pgmnemo._explain_passages(l, asked, s);
    RETURN QUERY
    SELECT 'time', 'interval ' || t.number, pgmnemo._temporal(l.occurred_at, ARRAY[t.since], ARRAY[t.until])::text,
           NULL::float8, NULL::float8, format('%s to %s', t.since, t.until)
      FROM unnest(asked.since, asked.until) WITH ORDINALITY AS t (since, until, number);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.explain IS 'why one lesson ranks where it does for one question; arguments as of pgmnemo.recall, in_project: the lesson''s project where that is not project_id. Sections of the table, value and numbers as that call has them:
answer: rank (NULL: not among the candidates), score (what it would be otherwise) and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
-- In batches by id, so that whoever gives passages to a whole tenant reads each lesson once. Sub-select and settings
-- keep to the two keys, however the tables have grown since the plan was made.
CREATE OR REPLACE FUNCTION pgmnemo.list_bare(
    tenant uuid,
    after  bigint  DEFAULT 0,
    most   integer DEFAULT 100,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT t.* FROM pgmnemo.lesson t
     WHERE t.tenant_id = tenant AND t.id > after AND t.active
       AND NOT EXISTS (SELECT FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = t.id AND p.number > 0 OFFSET 0)
     ORDER BY t.id LIMIT most;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_bare IS 'the active lessons of a tenant that have no passages, in order of id: those after an id, at most so many';
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE OR REPLACE FUNCTION pgmnemo.recall(
    tenant     uuid,
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    lesson_id      bigint,
    in_project     uuid,
    external_id    text,
    said_by        text,
    topic          text,
    content        text,
    metadata       jsonb,
    occurred_at    timestamptz,
    passage        text,
    score          float8,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    context        float8,
    neighbours     float8,
    recency        float8,
    importance     float8,
    graph          float8
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(recall.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN recall.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(recall.embedding) END;
    words text := CASE WHEN recall.mode IS DISTINCT FROM 'vector' THEN recall.query_text END;
    asked pgmnemo.question;
    pool record;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(recall.k, recall.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    s := pgmnemo._settings();
    scope := pgmnemo._scope(tenant, recall.project_id, s.gate_strict, recall.role, recall.valid_at);
    PERFORM pgmnemo._tell_hidden(scope);
    asked := pgmnemo._ask(scope, words, meaning, moment, s);
    pool := pgmnemo._pool(scope, asked, s, recall.k, words IS NOT NULL, moment, NULL);
    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           (SELECT p.content FROM pgmnemo.passage p
             WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND p.number > 0
             ORDER BY pgmnemo._passage_worth(p, asked, s), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.neighbours, r.recency, r.importance, r.graph
      FROM (SELECT r.score, (r.own).*
              FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
             ORDER BY r.score DESC, (r.own).external_id, (r.own).project_id LIMIT recall.k) r
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = r.lesson_id OFFSET 0) l
     ORDER BY r.score DESC, r.external_id, r.project_id;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.recall IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = share * (bm25_weight * bm25 + passage_terms_weight * passage_terms + passage_cosine_weight * max(passage_cosine, 0) + pair_cosine_weight * max(pair_cosine, 0) + cosine_weight * max(cosine, 0) + temporal_weight * temporal), share assistant_weight for a lesson of role assistant, else 1;
score = relevance + context_weight * context + neighbours_weight * neighbours + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, times length_pivot / different words where the passage has more of them, 0 or more, NULL like bm25; of a lesson without passages the same, with the root of that quotient;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal);
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
neighbours: relevance of the candidates up to two positions before and after in the same project (pgmnemo._neighbours);
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector of 1,024; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; valid_at: only what had happened and had not expired then; role: only lessons of that role; mode: hybrid, vector or keyword.
Candidates are the pool_depth (at least k) best of each leg, the neighbours of the neighbours_seeds most relevant, and what the graph adds, filled up to pool_depth (at least k) in key order: the same for every k up to pool_depth.';
CREATE OR REPLACE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.4.1' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
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
GRANT SELECT ON pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.edges, pgmnemo.postings TO PUBLIC;
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
