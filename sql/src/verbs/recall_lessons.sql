CREATE FUNCTION pgmnemo.recall_lessons(
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
    floor      float8      DEFAULT NULL
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
    hidden         integer
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.lesson_id, r.in_project, r.external_id, r.said_by, r.topic, r.content, r.metadata, r.occurred_at,
           r.passage, r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal,
           r.context, r.neighbours, r.recency, r.importance, r.graph, r.fit, r.hidden
      FROM pgmnemo.recall(pgmnemo._session_tenant(), embedding, k, query_text, project_id, as_of, valid_at, role,
                          mode, filter, known_at, windows, floor, NULL) r;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'recall for the session''s tenant with duplicates NULL, as the protocol measures it: every lesson is a row of its own, ranked by its score alone';
