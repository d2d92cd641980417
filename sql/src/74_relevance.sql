CREATE FUNCTION pgmnemo._relevance(cosine float8, bm25 float8, cosine_weight float8, bm25_weight float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT cosine_weight * greatest(coalesce(cosine, 0), 0) + bm25_weight * coalesce(bm25, 0) $$;

COMMENT ON FUNCTION pgmnemo._relevance(float8, float8, float8, float8) IS 'what a lesson has to do with the question, 0 or more: cosine_weight * max(cosine, 0) + bm25_weight * BM25; a leg that was not asked adds 0';
