CREATE FUNCTION pgmnemo.explain(
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
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL,
    duplicates  boolean     DEFAULT false,
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
        WHEN explain.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._checked_embedding(explain.embedding) END;
    words text COLLATE "default" := CASE WHEN explain.mode IS DISTINCT FROM 'vector' THEN explain.query_text END;
    from_role text COLLATE "default" := pgmnemo._nfc(explain.role);
    key text COLLATE "default" := explain.external_id;
    home uuid := coalesce(explain.in_project, explain.project_id);
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    first_of bigint[];
    found record;
    ways text;
    first bigint;
    ahead integer;
    notes text;
    meant record;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(explain.k, explain.mode, meaning IS NOT NULL, words, moment, NULL);
    IF home IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := pgmnemo._filtered_scope(tenant, explain.project_id, s.gate_strict, from_role, explain.valid_at, moment,
                                  explain.known_at, explain.filter);
    wanted := pgmnemo._lesson_id(tenant, home, key);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    asked := pgmnemo._parse_question(scope, words, meant.vector, moment, s, explain.windows);
    asked.generation := meant.generation;
    asked.collapse := explain.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._with_background(scope, asked);
    asked.hnsw_table := meant.hnsw_table;
    asked.repeated := pgmnemo._repeated(scope, asked, explain.query_text, explain.mode, explain.duplicates);
    pool := pgmnemo._candidate_pool(scope, asked, s, explain.k, words IS NOT NULL, moment, l.id);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out, e.first_of INTO leads, shown, others, left_out, first_of
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    first := coalesce(first_of[array_position(left_out, l.id)], l.id);
    ahead := CASE WHEN explain.duplicates IS NULL OR explain.mode = 'vector' OR cardinality(asked.since) > 0 THEN 0
                  ELSE 3 END;
    WITH ranked AS MATERIALIZED (
        SELECT r.score, r.alone, r.own
          FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
    ), best AS MATERIALIZED (
        SELECT (r.own).lesson_id, (r.own).repeats, r.score, o.lexemes, coalesce(o.occurred_at, o.stored_at) AS happened,
               row_number() OVER (ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id,
                                           (r.own).project_id) AS turn
          FROM ranked r
          JOIN pgmnemo.lesson o ON o.tenant_id = tenant
               AND o.id = coalesce(shown[array_position(leads, (r.own).lesson_id)], (r.own).lesson_id)
         WHERE (r.own).lesson_id <> ALL (left_out)
    ), placed AS (
        SELECT b.lesson_id, count(*) OVER () AS all_of_them,
               row_number() OVER (ORDER BY b.repeats,
                                           coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn),
                                           b.happened DESC, b.turn) AS rank
          FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                       array_agg(b.lexemes) OVER w AS texts_ahead
                  FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
         CROSS JOIN LATERAL (
                SELECT min(o.place) AS place
                  FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                        AS o (score, happened, lexemes, place)
                 WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
    )
    SELECT p.rank, p.all_of_them, r.score, r.alone, r.own INTO found
      FROM ranked r JOIN placed p ON p.lesson_id = first WHERE (r.own).lesson_id = l.id;
    notes := CASE WHEN (found.own).repeats THEN '; it only repeats the question: behind all that does not' ELSE '' END
             || coalesce((SELECT format('; one hit with %s equal lessons, shown as %L', e.others, o.external_id)
                            FROM unnest(leads, shown, others) AS e (lead, id, others)
                            JOIN pgmnemo.lesson o ON o.tenant_id = tenant AND o.id = e.id WHERE e.lead = first), '');
    ways := pgmnemo._candidate_legs(l, scope, pool.by_keyword, pool.by_vector, pool.filled, pool.added, pool.linked);

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN found.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', found.rank, found.all_of_them)
              ELSE format('of %s candidates', found.all_of_them)
                   || CASE WHEN found.rank > explain.k THEN '; beyond k = ' || explain.k ELSE '' END END || notes),
        ('answer', 'score', found.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'fit', (SELECT CASE WHEN (found.own).repeats THEN '0' ELSE f.fit::text END
                             FROM pgmnemo._fit(found.alone, asked.ideal) f),
         NULL, NULL,
         'of a score of ' || asked.ideal),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest(s.pool_depth, explain.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(l, scope);
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, found.own, pgmnemo._context_source(pool.candidates, found.own, s),
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
answer: rank (NULL: not among the candidates), score (what it would be otherwise), fit and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
