-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none.
CREATE FUNCTION pgmnemo._candidates(tenant uuid, ids bigint[], totals float8[], asked pgmnemo.question, w pgmnemo.weights,
                                    by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    narrow halfvec := subvector(asked.direction, 1, 384);
    middle halfvec := subvector(asked.direction, 1, 768);
    term_weights float8[] := ARRAY(SELECT i.idf + w.passage_term_bonus FROM unnest(asked.idfs) AS i (idf));
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, c.cosine, c.bm25, c.passage_terms, c.passage_cosine,
                   c.pair_cosine, c.temporal, pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), w.recency_half_life),
                   pgmnemo._importance(l.importance),
                   w.bm25_weight * coalesce(c.bm25, 0) + w.passage_terms_weight * coalesce(c.passage_terms, 0)
                   + w.passage_cosine_weight * greatest(c.passage_cosine, 0) + w.pair_cosine_weight * greatest(c.pair_cosine, 0)
                   + w.cosine_weight * greatest(c.cosine, 0) + w.temporal_weight * c.temporal)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
          JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = g.id
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms, max(v.number) AS passages,
                       array_agg(v.cosine ORDER BY v.cosine DESC) FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT p.number, pgmnemo._bounded(-(p.embedding <#> CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle
                                                                                         ELSE asked.direction END)) AS cosine,
                               CASE WHEN by_words AND p.number > 0 THEN
                                    (SELECT t.weight FROM pgmnemo._terms_within(p.lexemes, asked.queries, term_weights) t) END AS terms
                          FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = l.id) v) p
         CROSS JOIN LATERAL (
                SELECT p.own AS cosine,
                       CASE WHEN by_words THEN coalesce(g.total, (SELECT b.total FROM pgmnemo._lesson_sum(
                            l.lexemes, l.token_count, asked.queries, asked.scales, asked.flat, asked.per_token) b))
                            / 1099511627776 END AS bm25,
                       CASE WHEN by_words AND coalesce(p.passages, 0) = 0
                            THEN (SELECT t.weight FROM pgmnemo._terms_within(l.lexemes, asked.queries, term_weights) t)
                            ELSE p.terms END AS passage_terms,
                       coalesce(p.cosines[1], p.own) AS passage_cosine,
                       coalesce((p.cosines[1] + coalesce(p.cosines[2], p.cosines[1])) / 2, p.own) AS pair_cosine,
                       CASE WHEN cardinality(asked.since) > 0 THEN pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                            ELSE 0 END AS temporal OFFSET 0) c);
END
$$;
