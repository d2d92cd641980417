-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE FUNCTION pgmnemo.recall_lessons(
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid'
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
    recency        float8,
    importance     float8,
    graph          float8
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
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
    gate text := s ->> 'gate_strict';
    depth integer := greatest((s ->> 'pool_depth')::float8, recall_lessons.k);
    first_project uuid := coalesce(recall_lessons.project_id, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(recall_lessons.project_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(recall_lessons.as_of, now());
    meaning vector := pgmnemo._embedding(recall_lessons.embedding);
    words text := recall_lessons.query_text;
    asked pgmnemo.question;
    ids bigint[];
    totals float8[];
    candidates pgmnemo.candidate[];
    linked bigint[];
    graphs float8[];
BEGIN
    PERFORM pgmnemo._check_recall(recall_lessons.k, recall_lessons.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    IF recall_lessons.mode = 'keyword' THEN
        meaning := NULL;
    ELSIF recall_lessons.mode = 'vector' THEN
        words := NULL;
    END IF;
    asked := pgmnemo._ask(tenant, first_project, last_project, words, meaning, moment, s);

    -- candidates: the union of both legs, filled up so that a scope that holds k lessons returns k
    SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO ids, totals
      FROM pgmnemo._keyword_leg(
        tenant, first_project, last_project, asked, depth, gate, recall_lessons.role, recall_lessons.valid_at) t;
    ids := ids || ARRAY(SELECT v.id FROM unnest(pgmnemo._vector_leg(
        tenant, first_project, last_project, asked, depth, s, recall_lessons.role, recall_lessons.valid_at)) AS v (id)
                         WHERE v.id <> ALL (ids));
    IF cardinality(ids) < recall_lessons.k THEN
        ids := ids || ARRAY(SELECT pgmnemo._fill(
            tenant, first_project, last_project, ids, recall_lessons.k - cardinality(ids),
            recall_lessons.role, recall_lessons.valid_at, gate));
    END IF;
    candidates := pgmnemo._candidates(tenant, ids, totals, asked, w, words IS NOT NULL, moment);

    -- relevance flows from the best of them along edges, to lessons that no leg found as well
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, candidates, s, recall_lessons.valid_at) g;
    IF NOT linked <@ ids THEN
        candidates := candidates || pgmnemo._candidates(
            tenant,
            ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, recall_lessons.role, recall_lessons.valid_at, gate)),
            '{}', asked, w, words IS NOT NULL, moment);
    END IF;

    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           (SELECT p.content FROM pgmnemo.passage p
             WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND p.number > 0
             ORDER BY pgmnemo._passage_worth(p, asked, w), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.recency, r.importance, r.graph
      FROM (SELECT c.*, coalesce(g.graph, 0) AS graph,
                   c.relevance + w.context_weight * c.context + w.recency_weight * c.recency
                   + w.importance_weight * c.importance + w.graph_weight * coalesce(g.graph, 0) AS score
              FROM (SELECT c.*, CASE WHEN c.occurred_at IS NULL THEN c.relevance
                                     ELSE max(c.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END AS context
                      FROM unnest(candidates) c) c
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id
             ORDER BY score DESC, c.external_id, c.project_id
             LIMIT recall_lessons.k) r
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = r.lesson_id
     ORDER BY r.score DESC, r.external_id, r.project_id;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = bm25_weight * bm25 + passage_terms_weight * passage_terms + passage_cosine_weight * max(passage_cosine, 0) + pair_cosine_weight * max(pair_cosine, 0) + cosine_weight * max(cosine, 0) + temporal_weight * temporal;
score = relevance + context_weight * context + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, 0 or more, NULL like bm25;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal);
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector of 1,024; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; valid_at: only what had happened and had not expired then; role: only lessons of that role; mode: hybrid, vector or keyword.
Candidates are the pool_depth (at least k) best of each leg and what the graph adds, filled up so that a scope that holds k lessons returns k.';
