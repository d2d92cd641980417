-- Cosine, BM25 and their weighted sum for lessons of one tenant.
CREATE FUNCTION pgmnemo._relevances(tenant uuid, ids bigint[], bm25s float8[], asked vector,
                                    cosine_weight float8, bm25_weight float8)
RETURNS TABLE (lesson_id bigint, cosine float8, bm25 float8, relevance float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, c.cosine, p.bm25, pgmnemo._relevance(c.cosine, p.bm25, cosine_weight, bm25_weight)
      FROM unnest(ids, bm25s) AS p (id, bm25)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.id
     CROSS JOIN LATERAL (SELECT 1 - (l.embedding <=> asked) AS cosine OFFSET 0) c
$$;
