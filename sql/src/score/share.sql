-- What an assistant says counts for less: much of it repeats what it was told. So does what only asks; and the question
-- itself is worth nothing, and lends nothing to its neighbours.
CREATE FUNCTION pgmnemo._share(repeats boolean, assistant boolean, asks boolean, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN repeats THEN 0
                ELSE CASE WHEN assistant THEN (s).assistant_weight ELSE 1 END
                     * CASE WHEN asks THEN (s).question_weight ELSE 1 END END
$$;
