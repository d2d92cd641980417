-- Return a lesson's BM25 as a whole (in units of 2^-40) unless `known`, and the worth of the question's terms in a
-- lesson without passages: it may be long for good reason, so its length counts against it only by half
-- (pgmnemo._terms_within). Its tsvector is unpacked once, by concatenation with an empty text. With weights of 1 the
-- cover density of one term is its number of occurrences.
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
