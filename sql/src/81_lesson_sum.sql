-- The same for one lesson and all terms, read from the lesson. With weights of 1 the cover density of one term is
-- the number of times that it stands there.
CREATE FUNCTION pgmnemo._lesson_sum(lexemes tsvector, tokens integer, queries tsquery[], scales float8[],
                                    flat float8, per_token float8)
RETURNS TABLE (total float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', lexemes, t.query), flat, per_token, tokens)), 0)
      FROM unnest(queries, scales) AS t (query, scale)
     WHERE lexemes @@ t.query
$$;
