-- Sum of the weights of those terms that stand in a text.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, queries tsquery[], weights float8[])
RETURNS TABLE (weight float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.weight), 0) FROM unnest(queries, weights) AS t (query, weight) WHERE lexemes @@ t.query
$$;
