-- Of a lesson as a whole its BM25 (in units of 2^-40) unless that is known already, and what the question's terms in
-- it are worth where it has no passages: it may be long for good reason, so its length is held against it by half only
-- (pgmnemo._terms_within). Its vector of lexemes is unpacked once: to join it with nothing does that. With weights of
-- 1 the cover density of one term is the number of times that it stands there.
CREATE FUNCTION pgmnemo._lesson_terms(lexemes tsvector, tokens integer, asked pgmnemo.question, bonus float8,
                                      known float8)
RETURNS TABLE (total float8, worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(known, sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', u.whole, t.query), (asked).flat,
                                               (asked).per_token, tokens, (asked).pivot))
                               FILTER (WHERE known IS NULL), 0),
           coalesce(sum(t.idf + bonus), 0) * sqrt(least(1, (asked).pivot / greatest(max(length(u.whole)), 1)))
      FROM (SELECT lexemes || '' AS whole OFFSET 0) AS u
      JOIN unnest((asked).queries, (asked).scales, (asked).idfs) AS t (query, scale, idf) ON u.whole @@ t.query
$$;
