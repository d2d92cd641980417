-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Every
-- statement has its index: a plan made while the tables were small must not read them whole once they are not.
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
    lesson_id   bigint,
    in_project  uuid,
    external_id text,
    said_by     text,
    topic       text,
    content     text,
    metadata    jsonb,
    occurred_at timestamptz,
    score       float8,
    cosine      float8,
    bm25        float8,
    recency     float8,
    importance  float8,
    graph       float8
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    gate text := s ->> 'gate_strict';
    depth integer := (s ->> 'pool_depth')::float8;
    w_cosine float8 := s ->> 'cosine_weight';
    w_bm25 float8 := s ->> 'bm25_weight';
    first_project uuid := coalesce(recall_lessons.project_id, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(recall_lessons.project_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(recall_lessons.as_of, now());
    asked vector := pgmnemo._embedding(recall_lessons.embedding);
    words text := recall_lessons.query_text;
    ids bigint[];
    bm25s float8[];
    linked bigint[];
    graphs float8[];
BEGIN
    PERFORM pgmnemo._check_recall(recall_lessons.k, depth, recall_lessons.mode, asked IS NOT NULL, words IS NOT NULL, moment);
    IF recall_lessons.mode = 'keyword' THEN
        asked := NULL;
    ELSIF recall_lessons.mode = 'vector' THEN
        words := NULL;
    END IF;

    -- candidates: the union of both legs, filled up so that a scope that holds k lessons returns k
    ids := pgmnemo._nearest(
        tenant, first_project, last_project, asked, depth, s, recall_lessons.role, recall_lessons.valid_at);
    SELECT coalesce(array_agg(w.lesson_id), '{}'), coalesce(array_agg(w.bm25), '{}') INTO ids, bm25s
      FROM pgmnemo._keyword_leg(
        tenant, first_project, last_project, words, depth, ids, s, recall_lessons.role, recall_lessons.valid_at) w;
    IF cardinality(ids) < depth THEN
        ids := ids || ARRAY(SELECT pgmnemo._fill(
            tenant, first_project, last_project, ids, depth - cardinality(ids),
            recall_lessons.role, recall_lessons.valid_at, gate));
    END IF;

    -- relevance flows from the best of them along edges, to lessons that no leg found as well
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, ids, bm25s, asked, s, recall_lessons.valid_at) g;
    IF NOT linked <@ ids THEN
        SELECT ids || array_agg(w.lesson_id), bm25s || array_fill(0::float8, ARRAY[cardinality(ids) - cardinality(bm25s)])
               || array_agg(w.bm25) INTO ids, bm25s
          FROM pgmnemo._keyword_leg(
            tenant, first_project, last_project, words, 0,
            ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, recall_lessons.role, recall_lessons.valid_at, gate)),
            s, recall_lessons.role, recall_lessons.valid_at) w;
    END IF;

    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           r.score, r.cosine, r.bm25, r.recency, r.importance, r.graph
      FROM (SELECT v.lesson_id, v.cosine, CASE WHEN words IS NOT NULL THEN coalesce(v.bm25, 0) END AS bm25,
                   c.recency, c.importance, c.graph,
                   pgmnemo._score(v.relevance, c.recency, c.importance, c.graph, (s ->> 'recency_weight')::float8,
                                  (s ->> 'importance_weight')::float8, (s ->> 'graph_weight')::float8) AS score
              FROM pgmnemo._relevances(tenant, ids, bm25s, asked, w_cosine, w_bm25) v
              JOIN pgmnemo.lesson d ON d.tenant_id = tenant AND d.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id
             CROSS JOIN LATERAL (
                    SELECT pgmnemo._recency(moment, coalesce(d.occurred_at, d.stored_at), (s ->> 'recency_half_life')::float8),
                           pgmnemo._importance(d.importance), coalesce(g.graph, 0) OFFSET 0) AS c (recency, importance, graph)
             ORDER BY score DESC, d.external_id, d.project_id
             LIMIT recall_lessons.k) r
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = r.lesson_id
     ORDER BY r.score DESC, l.external_id, l.project_id;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score:
score = cosine_weight * max(cosine, 0) + bm25_weight * bm25 + recency_weight * recency + importance_weight * importance + graph_weight * graph (the weights are the settings pgmnemo.*; at their defaults 1.5, 1, 0.10, 0.10, 1);
cosine: cosine similarity of the embeddings, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._bm25, pgmnemo._idf), NULL without query_text or in mode vector;
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
embedding: real[] or vector of 1,024; k: 1 to pool_depth; project_id NULL: the whole tenant; as_of NULL: now; valid_at: only what had happened and had not expired then; role: only lessons of that role; mode: hybrid, vector or keyword.
Candidates are the pool_depth best of each leg and what the graph adds, filled up so that a scope that holds k lessons returns k.';
