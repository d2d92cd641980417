-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none. A vector of lexemes is unpacked once:
-- to join it with nothing does that.
CREATE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    whole_text constant float8 := 0.5;  -- a lesson without passages may be long for good reason
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 768);
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   c.cosine, c.bm25, c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
          JOIN pgmnemo.lesson l ON l.tenant_id = scope.tenant AND l.id = g.id
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms,
                       max(v.number) AS passages,
                       array_agg(v.cosine ORDER BY v.cosine DESC)
                           FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT p.number,
                               pgmnemo._bounded(-(p.embedding OPERATOR(@extschema:vector@.<#>)
                                   CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE asked.direction END))
                              AS cosine,
                               CASE WHEN by_words AND p.number > 0
                                    THEN (SELECT t.worth FROM pgmnemo._terms_within(
                                         p.lexemes, asked, s.passage_term_bonus, 1) t) END AS terms
                          FROM pgmnemo.passage p
                         WHERE p.tenant_id = scope.tenant AND p.lesson_id = l.id) v) p
         CROSS JOIN LATERAL (
                SELECT CASE WHEN by_words AND (g.total IS NULL OR p.passages IS NULL OR p.passages = 0)
                            THEN l.lexemes || '' END AS lexemes OFFSET 0) AS u
         CROSS JOIN LATERAL (
                SELECT p.own AS cosine,
                       CASE WHEN by_words
                            THEN coalesce(g.total,
                                          (SELECT b.total FROM pgmnemo._lesson_sum(u.lexemes, l.token_count, asked) b))
                                 / pgmnemo._unit() END AS bm25,
                       CASE WHEN by_words AND coalesce(p.passages, 0) = 0
                            THEN (SELECT t.worth FROM pgmnemo._terms_within(
                                     u.lexemes, asked, s.passage_term_bonus, whole_text) t)
                            ELSE p.terms END AS passage_terms,
                       coalesce(p.cosines[1], p.own) AS passage_cosine,
                       coalesce((p.cosines[1] + coalesce(p.cosines[2], p.cosines[1])) / 2, p.own) AS pair_cosine,
                       CASE WHEN cardinality(asked.since) > 0
                            THEN pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                            ELSE 0 END AS temporal OFFSET 0) c);
END
$$;
