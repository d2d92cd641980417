CREATE FUNCTION pgmnemo.explain_recall(
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    w pgmnemo.weights := jsonb_populate_record(NULL::pgmnemo.weights, s);
    scope uuid := explain_recall.project_id;
    first_project uuid := coalesce(scope, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(scope, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(explain_recall.as_of, now());
    meaning vector := pgmnemo._embedding(explain_recall.embedding);
    words text := explain_recall.query_text;
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    own pgmnemo.candidate;
    place record;
    ways text;
BEGIN
    PERFORM pgmnemo._check_recall(explain_recall.k, explain_recall.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    IF coalesce(explain_recall.in_project, scope) IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    wanted := pgmnemo._lesson_id(tenant, coalesce(explain_recall.in_project, scope), explain_recall.external_id);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    IF explain_recall.mode = 'keyword' THEN
        meaning := NULL;
    ELSIF explain_recall.mode = 'vector' THEN
        words := NULL;
    END IF;
    asked := pgmnemo._ask(tenant, first_project, last_project, words, meaning, moment, s);
    pool := pgmnemo._pool(tenant, first_project, last_project, asked, s, w, explain_recall.k, words IS NOT NULL, moment,
                          explain_recall.role, explain_recall.valid_at, l.id);
    SELECT c.* INTO own FROM unnest(pool.candidates) c WHERE c.lesson_id = l.id;
    SELECT p.*, count(*) OVER () AS all_of_them INTO place
      FROM pgmnemo._pool_scores(pool.candidates, pool.linked, pool.graphs, w) p ORDER BY p.lesson_id <> l.id LIMIT 1;
    ways := nullif(concat_ws('; ',
        'keyword leg, place ' || array_position(pool.by_keyword, l.id), 'vector leg, place ' || array_position(pool.by_vector, l.id),
        CASE WHEN l.id = ANY (pool.filled) THEN 'filled up to k' END,
        CASE WHEN l.id = ANY (pool.linked) AND (scope IS NULL OR l.project_id = scope)
                  AND pgmnemo._recallable(l, explain_recall.role, explain_recall.valid_at, s ->> 'gate_strict')
             THEN 'graph' END), '');

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN place.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', place.rank, place.all_of_them)
              WHEN place.rank > explain_recall.k THEN format('of %s candidates; beyond k = %s', place.all_of_them, explain_recall.k)
              ELSE format('of %s candidates', place.all_of_them) END),
        ('answer', 'score', place.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest((s ->> 'pool_depth')::float8, explain_recall.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(
        l, scope, explain_recall.role, explain_recall.valid_at, s ->> 'gate_strict');
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, own, place.context, place.context_from, place.graph,
        CASE WHEN place.graph > 0 THEN pgmnemo._graph_seed(
            tenant, pool.candidates, pool.seeds, l.id, s, explain_recall.valid_at) END, w, moment);
    RETURN QUERY SELECT * FROM pgmnemo._explain_terms(l, words, asked, w);
    RETURN QUERY SELECT * FROM pgmnemo._explain_passages(l, asked, w);
    RETURN QUERY SELECT 'time', 'interval ' || t.number, pgmnemo._temporal(l.occurred_at, ARRAY[t.since], ARRAY[t.until])::text,
                        NULL::float8, NULL::float8, format('%s to %s', t.since, t.until)
                   FROM unnest(asked.since, asked.until) WITH ORDINALITY AS t (since, until, number);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'why one lesson ranks where it does for one question; arguments as of pgmnemo.recall_lessons, in_project: the lesson''s project where that is not project_id. Sections of the table, value and numbers as that call has them:
answer: rank (NULL: not among the candidates), score (what it would be otherwise) and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
