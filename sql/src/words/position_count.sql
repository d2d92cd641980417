-- Return the length of a text: the number of positions of its lexemes.
CREATE FUNCTION pgmnemo._position_count(lexemes tsvector)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(sum(cardinality(u.positions)), 0)::integer FROM unnest(lexemes) u);
END
$$;
