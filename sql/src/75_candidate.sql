-- A lesson that may be among the answers, with what does not depend on the other candidates.
CREATE TYPE pgmnemo.candidate AS (
    lesson_id      bigint,
    project_id     uuid,
    external_id    text COLLATE "C",
    occurred_at    timestamptz,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    recency        float8,
    importance     float8,
    relevance      float8
);

COMMENT ON TYPE pgmnemo.candidate IS 'components as pgmnemo.recall_lessons returns them; relevance: their weighted sum without context, recency, importance and graph';
