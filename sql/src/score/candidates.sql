-- Return the own components of these lessons, with the part of their BM25 that is known or NULL. A lesson without
-- passages counts as its own passage; so does a vector that represents passages without vectors. Each table is read
-- once for all lessons and joined by hashing: a look-up per lesson would cost more than its result. A long tsvector is
-- unpacked once, by concatenation with an empty text. With weights of 1 the cover density of one term is its number of
-- occurrences.
CREATE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
    unpacked constant integer := 2000;  -- bytes up to which a vector of lexemes may stand in its row as it is
    direction constant @extschema:vector@.halfvec := asked.direction;
    common constant @extschema:vector@.halfvec := asked.common;
    timed boolean := cardinality(asked.since) > 0;
    codes constant tsquery := CASE WHEN by_words AND asked.terms::text ~ '[0-9]' THEN pgmnemo._rare_codes(asked) END;
    -- what has more tokens says more than the question
    repeat_tokens constant integer := coalesce(cardinality(asked.repeated) + 24, -1000000);
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   v.own,
                   w.bm25, w.terms,
                   coalesce(v.best, v.own),
                   coalesce((v.best + CASE WHEN cardinality(v.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(v.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE v.best END) / 2, v.own),
                   CASE WHEN timed THEN asked.share * pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                        ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0,
                   CASE WHEN l.whole @@ codes THEN 1
                        ELSE pgmnemo._coverage(s.bm25_weight * w.bm25 + s.passage_terms_weight * w.terms, asked.reach,
                                               s.full_coverage, asked.brevity) END,
                   pgmnemo._center(asked, v.common), l.mark, l.repeats,
                   pgmnemo._relevance_share(l.repeats, l.role = 'assistant', l.asks, s))::pgmnemo.candidate
          FROM (SELECT l.id, l.project_id, l.external_id, l.occurred_at, l.stored_at, l.position, l.token_count, l.role,
                       l.importance,
                       CASE WHEN pg_column_size(l.lexemes) <= unpacked AND pg_column_compression(l.lexemes) IS NULL
                            THEN l.lexemes ELSE l.lexemes || '' END AS whole,
                       pgmnemo._is_bare_question(l.content)
                       AND (l.role IS NOT NULL OR l.position IS NOT NULL
                            OR length(ts_delete(l.lexemes, asked.terms)) = 0) AS asks,
                       CASE WHEN asked.collapse
                            THEN pgmnemo._lexemes_hash(l.content, l.lexemes, l.token_count) END AS mark,
                       l.token_count <= repeat_tokens + coalesce(length(l.topic), 0)
                       AND pgmnemo._repeats_question(l.content, l.topic, l.text_config, l.lexemes, asked.repeated)
                       AS repeats
                  FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = ANY (ids) OFFSET 0) l
          JOIN unnest(ids, totals) AS g (id, total) ON g.id = l.id
          LEFT JOIN (SELECT c.lesson_id, max(c.cosine) FILTER (WHERE c.number = 0) AS own,
                            max(c.cosine) FILTER (WHERE c.number > 0) AS best,
                            array_agg(c.cosine) FILTER (WHERE c.number > 0) AS cosines,
                            coalesce(max(c.common) FILTER (WHERE c.number = 0), max(c.common)) AS common
                       FROM (SELECT v.lesson_id, v.number, pgmnemo._cosine(v.embedding, direction) AS cosine,
                                    pgmnemo._cosine(v.embedding, common) AS common
                               FROM pgmnemo.lesson_vector v
                              WHERE v.tenant_id = scope.tenant AND v.lesson_id = ANY (ids)
                                AND v.generation = asked.generation) c
                      GROUP BY c.lesson_id) v ON v.lesson_id = l.id
          LEFT JOIN (SELECT p.lesson_id, max(t.worth) AS terms
                       FROM (SELECT p.lesson_id, p.lexemes FROM pgmnemo.passage p
                              WHERE p.tenant_id = scope.tenant AND p.lesson_id = ANY (ids) OFFSET 0) p
                       LEFT JOIN LATERAL pgmnemo._terms_within(p.lexemes, asked, s.passage_term_bonus) t ON by_words
                      GROUP BY p.lesson_id) p ON p.lesson_id = l.id
          LEFT JOIN LATERAL (
                SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', l.whole, t.query), asked.flat,
                                                    asked.per_token, l.token_count, asked.pivot))
                                FILTER (WHERE g.total IS NULL), 0) AS total,
                       coalesce(sum(t.idf + s.passage_term_bonus), 0)
                       * sqrt(least(1, asked.pivot / greatest(length(l.whole), 1))) AS worth
                  FROM unnest(asked.queries, asked.scales, asked.idfs) AS t (query, scale, idf)
                 WHERE l.whole @@ t.query) t ON by_words AND (g.total IS NULL OR p.lesson_id IS NULL)
         CROSS JOIN LATERAL (
                SELECT coalesce(g.total, t.total) / pgmnemo._bm25_unit() AS bm25,
                       CASE WHEN p.lesson_id IS NOT NULL THEN p.terms ELSE t.worth END AS terms) w);
END
$$;
