CREATE TYPE pgmnemo.settings AS (
    gate_strict           text,
    text_config           text,
    statistics_scope      text,
    bm25_k1               float8,
    bm25_b                float8,
    bm25_weight           float8,
    passage_terms_weight  float8,
    passage_term_bonus    float8,
    passage_cosine_weight float8,
    pair_cosine_weight    float8,
    cosine_weight         float8,
    temporal_weight       float8,
    context_weight        float8,
    neighbours_weight     float8,
    recency_weight        float8,
    recency_half_life     float8,
    importance_weight     float8,
    graph_weight          float8,
    graph_depth           integer,
    graph_seeds           integer,
    pool_depth            integer,
    exact_scan_limit      integer,
    ef_search             integer
);

COMMENT ON TYPE pgmnemo.settings IS 'the settings of the same names (pgmnemo.list_settings), checked and typed';
