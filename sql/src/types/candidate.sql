-- A candidate for an answer, with every part of its score.
CREATE TYPE pgmnemo.candidate AS (
    lesson_id      bigint,
    project_id     uuid,
    external_id    text COLLATE "C",
    occurred_at    timestamptz,
    place          integer,
    words          integer,
    assistant      boolean,
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
    coverage       float8,
    center         float8,
    mark           bigint,
    repeats        boolean,
    share          float8
);

COMMENT ON TYPE pgmnemo.candidate IS 'components as pgmnemo.recall returns them, and what context and neighbours go by: place is lesson.position, words lesson.token_count, assistant whether lesson.role says so; coverage: the share that the words count with (pgmnemo._coverage); center: the cosine that it would have if question and lesson were unrelated (pgmnemo._center); mark: pgmnemo._lexemes_hash, NULL where equal lessons are hits of their own; repeats: it is the question itself (pgmnemo._repeats_question); share: what its own relevance counts with (pgmnemo._relevance_share)';
