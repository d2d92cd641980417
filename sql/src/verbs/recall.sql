-- Rank lessons. Serial and without JIT: a call takes milliseconds, and starting workers or a compiler takes longer.
-- Planned once: every statement has its index, so a plan for small tables must not read large tables whole.
CREATE FUNCTION pgmnemo.recall(
    tenant     uuid,
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    filter     jsonb       DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    windows    tstzmultirange DEFAULT NULL,
    floor      float8      DEFAULT NULL,
    duplicates boolean     DEFAULT false,
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
    graph          float8,
    fit            float8,
    hidden         integer,
    equal_lessons  integer,
    repeats_question boolean,
    contributions  float8[]
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
        WHEN recall.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._checked_embedding(recall.embedding) END;
    words text COLLATE "default" := CASE WHEN recall.mode IS DISTINCT FROM 'vector' THEN recall.query_text END;
    from_role text COLLATE "default" := pgmnemo._nfc(recall.role);
    asked pgmnemo.question;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    ahead integer;  -- places that a newer lesson may come before an older one
    hidden integer;
    meant record;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(recall.k, recall.mode, meaning IS NOT NULL, words, moment, recall.floor);
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := CASE WHEN recall.filter IS NULL
                  THEN pgmnemo._scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at, moment,
                                      recall.known_at)
                  ELSE pgmnemo._filtered_scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at,
                                            moment, recall.known_at, recall.filter) END;
    IF recall.known_at IS NOT NULL THEN
        scope.ended := pgmnemo._superseded_ids(tenant, scope.moment, recall.known_at);
    END IF;
    hidden := pgmnemo._hidden_count(scope);
    asked := pgmnemo._parse_question(scope, words, meant.vector, moment, s, recall.windows);
    asked.generation := meant.generation;
    asked.collapse := recall.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._with_background(scope, asked);
    asked.hnsw_table := meant.hnsw_table;
    asked.repeated := pgmnemo._repeated(scope, asked, recall.query_text, recall.mode, recall.duplicates);
    pool := pgmnemo._candidate_pool(scope, asked, s, recall.k, words IS NOT NULL, moment, NULL);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out INTO leads, shown, others, left_out
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    ahead := CASE WHEN recall.duplicates IS NULL OR recall.mode = 'vector' OR cardinality(asked.since) > 0 THEN 0
                  ELSE 3 END;
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT r.turn, r.score, r.fit, r.others, (r.own).*, r.own, l.id, l.role, l.topic, l.content, l.metadata,
               l.occurred_at AS happened_at, l.lexemes, l.project_id AS lies_in, l.external_id AS named,
               coalesce(l.occurred_at, l.stored_at) AS happened
          FROM (SELECT row_number() OVER (ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id,
                                                   (r.own).project_id) AS turn, r.score, f.fit, r.own,
                       coalesce(shown[g.place], (r.own).lesson_id) AS shown, coalesce(others[g.place], 0) AS others
                  FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
                 CROSS JOIN LATERAL pgmnemo._fit(r.alone, asked.ideal) f
                 CROSS JOIN LATERAL (SELECT array_position(leads, (r.own).lesson_id)) AS g (place)
                 WHERE (recall.floor IS NULL OR f.fit >= recall.floor AND NOT (r.own).repeats)
                   AND (r.own).lesson_id <> ALL (left_out)
                 ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id, (r.own).project_id
                 LIMIT recall.k + ahead) r
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = r.shown OFFSET 0) l
    )
    SELECT r.id, r.lies_in, r.named, r.role, r.topic, r.content, r.metadata, r.happened_at,
           (SELECT p.content
              FROM pgmnemo.passage p
              LEFT JOIN pgmnemo.lesson_vector v ON v.tenant_id = tenant AND v.lesson_id = r.id AND v.number = p.number
                                        AND v.generation = asked.generation
             WHERE p.tenant_id = tenant AND p.lesson_id = r.id
             ORDER BY pgmnemo._passage_order(p.lexemes, v.embedding, asked, s), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.neighbours, r.recency, r.importance, r.graph,
           CASE WHEN r.repeats THEN 0 ELSE r.fit END, hidden, r.others, r.repeats,
           a.contributions
      FROM (SELECT b.*, coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn) AS rank
              FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                           array_agg(b.lexemes) OVER w AS texts_ahead
                      FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
             CROSS JOIN LATERAL (
                    SELECT min(o.place) AS place
                      FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                            AS o (score, happened, lexemes, place)
                     WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
             ORDER BY b.repeats, rank, b.happened DESC, b.turn LIMIT recall.k) r
     CROSS JOIN LATERAL pgmnemo._contributions(r.own, s) a
     ORDER BY r.repeats, r.rank, r.happened DESC, r.turn;
    IF NOT FOUND AND hidden > 0 AND recall.floor IS NULL THEN
        PERFORM pgmnemo._check_all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.recall IS 'the k lessons with the highest score, ties by external id in C order, and after them what only repeats the question, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = share * (coverage * (bm25_weight * bm25 + passage_terms_weight * passage_terms) + passage_cosine_weight * near(passage_cosine) + pair_cosine_weight * near(pair_cosine) + cosine_weight * near(cosine) + temporal_weight * temporal), share assistant_weight for a lesson of role assistant, else 1; coverage how much of the question its words hold (pgmnemo._coverage), 1 with a rare code of it (pgmnemo._rare_codes); temporal counts half without vectors to compare; near how far a cosine lies from that of unrelated texts to 1 (pgmnemo._nearness, pgmnemo._center);
score = relevance + context_weight * context + neighbours_weight * neighbours + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, times length_pivot / different words where the passage has more of them, 0 or more, NULL like bm25; of a lesson without passages the same, with the root of that quotient;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal), less where it is told loosely;
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
neighbours: relevance of the candidates up to two positions before and after in the same project (pgmnemo._neighbours);
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
fit: the score, with the lesson''s own relevance in place of context, as a part of what a lesson that answers the question well would have, 0 to 1, comparable between questions (pgmnemo._ideal_score); hidden: lessons in scope that pgmnemo.gate_strict hides, counted to 1,000.
duplicates: false: lessons that say the same (pgmnemo._text_key) are one row, the newest of them (occurred_at, else stored_at; rather a statement than a question) with the score of the best, and equal_lessons the number of the others; true: each is a row of its own; NULL: so, and ranked by score alone, as pgmnemo.recall_lessons does;
a lesson that restates an older one that ranks up to three places before it (pgmnemo._restates: newer, at least 0.9 of its score, a quarter of the words) comes just before that, unless the question names a time, duplicates is NULL or mode is vector;
repeats_question: the lesson is the question itself (pgmnemo._repeats_question): it ranks last, and its fit is 0; contributions: what each component from bm25 to graph in the order of the formula adds to the score (pgmnemo._contributions), together the score;
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector, of the tenant''s dimension; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; what has expired or is superseded at valid_at, else at as_of, is left out; valid_at: only what had happened then; known_at: by what was stored, superseded and undone then; role: only lessons of that role; mode: hybrid, vector or keyword; filter: only lessons that match it (pgmnemo._filter); windows: times that count in place of those that query_text names, at most 100 ranges; floor: only rows whose fit is at least that, 0 to 1, NULL: all.
Candidates are the pool_depth (at least k) best of each leg, the neighbours of the neighbours_seeds most relevant, and what the graph adds, filled up to pool_depth (at least k) in key order, or, where no word of the question occurs and there is no vector, with what recency and importance lift most of the 10,000 lessons that happened last; where fewer than pool_depth (at least k) different texts are among them, of up to 3,200 more of each leg: the same for every k up to pool_depth. Errors: an argument out of range or a malformed filter (22023); all lessons in scope hidden by the gate (55000).';
