-- The settings that weigh components, typed.
CREATE TYPE pgmnemo.weights AS (
    bm25_weight           float8,
    passage_terms_weight  float8,
    passage_term_bonus    float8,
    passage_cosine_weight float8,
    pair_cosine_weight    float8,
    cosine_weight         float8,
    temporal_weight       float8,
    context_weight        float8,
    recency_weight        float8,
    recency_half_life     float8,
    importance_weight     float8,
    graph_weight          float8
);

COMMENT ON TYPE pgmnemo.weights IS 'settings of the same names, as numbers';
