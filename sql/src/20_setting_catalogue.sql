CREATE FUNCTION pgmnemo._setting_catalogue()
RETURNS TABLE (name text, initial text, kind text, low float8, high float8, choices text[], meaning text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
VALUES
    ('tenant_id', NULL, 'uuid', NULL::float8, NULL::float8, NULL::text[],
     'tenant that this session works for; needs a grant (pgmnemo.grant_tenant)'),
    ('gate_strict', 'enforce', 'choice', NULL, NULL, '{enforce,warn,off}'::text[],
     'a lesson without commit_sha and artifact_hash: enforce refuses it and hides it from recall, warn stores it with a warning, off stores it silently'),
    ('text_config', 'english', 'text search configuration', NULL, NULL, NULL,
     'how lessons written and questions asked from now on are cut into lexemes'),
    ('statistics_scope', 'tenant', 'choice', NULL, NULL, '{tenant,project}',
     'lessons over which BM25 counts: all active lessons of the tenant, or those of the project asked'),
    ('bm25_k1', '0.9', 'number', 0, 10, NULL, 'BM25: how slowly repetitions of a term saturate'),
    ('bm25_b', '0.4', 'number', 0, 1, NULL, 'BM25: how much a long lesson is held against it'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('passage_terms_weight', '0.75', 'number', 0, 100, NULL,
     'score of one unit of the terms that stand together in the best passage'),
    ('passage_term_bonus', '2', 'number', 0, 100, NULL, 'what a term counts there besides its inverse document frequency'),
    ('passage_cosine_weight', '18', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the best passage'),
    ('pair_cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a mean cosine similarity of 1 of the two best passages'),
    ('cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the lesson as a whole'),
    ('temporal_weight', '10', 'number', 0, 1000, NULL, 'score of a lesson of just the time that the question names'),
    ('context_weight', '1', 'number', 0, 100, NULL,
     'share of the relevance of the most relevant lesson of the same project and moment that a lesson gains'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '30', 'whole number', 1, 10000, NULL, 'candidates taken from each leg; at least k are'),
    ('exact_scan_limit', '10000', 'whole number', 0, 10000000, NULL,
     'lessons in a scope up to which vectors are scanned exactly; beyond it new lessons enter the HNSW index'),
    ('ef_search', '200', 'whole number', 1, 1000, NULL, 'hnsw.ef_search while the HNSW index is scanned')
$$;
