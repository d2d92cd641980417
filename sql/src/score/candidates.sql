-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none.
CREATE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 768);
    timed boolean := cardinality(asked.since) > 0;
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   p.own, coalesce(g.total, t.total) / pgmnemo._unit(),
                   CASE WHEN p.passages > 0 THEN p.terms ELSE t.worth END,
                   coalesce(p.best, p.own),
                   coalesce((p.best + CASE WHEN cardinality(p.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(p.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE p.best END) / 2, p.own),
                   CASE WHEN timed THEN asked.share * pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                        ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = g.id OFFSET 0) l
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms,
                       max(v.number) AS passages, max(v.cosine) FILTER (WHERE v.number > 0) AS best,
                       array_agg(v.cosine) FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT r.number, pgmnemo._bounded(r.cosine) AS cosine,
                               CASE WHEN by_words AND r.number > 0
                                    THEN (SELECT t.worth
                                            FROM pgmnemo._terms_within(r.lexemes, asked, s.passage_term_bonus) t)
                               END AS terms
                          FROM (SELECT p.number, p.lexemes,
                                       -(p.embedding OPERATOR(@extschema:vector@.<#>)
                                         CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle
                                                      ELSE asked.direction END) AS cosine
                                  FROM pgmnemo.passage p
                                 WHERE p.tenant_id = scope.tenant AND p.lesson_id = l.id OFFSET 0) r OFFSET 0) v) p
          LEFT JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, s.passage_term_bonus,
                                                 g.total) t
            ON by_words AND (g.total IS NULL OR p.passages IS NULL OR p.passages = 0));
END
$$;
