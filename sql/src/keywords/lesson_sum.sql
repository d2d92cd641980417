-- The whole BM25 of a lesson (in units of 2^-40), read from the lesson. With weights of 1 the cover density of one term
-- is the number of times that it stands there.
CREATE FUNCTION pgmnemo._lesson_sum(lexemes tsvector, tokens integer, asked pgmnemo.question)
RETURNS TABLE (total float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', lexemes, t.query), (asked).flat,
                                        (asked).per_token, tokens, (asked).pivot)), 0)
      FROM unnest((asked).queries, (asked).scales) AS t (query, scale)
     WHERE lexemes @@ t.query
$$;
