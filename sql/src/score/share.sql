-- What an assistant says counts for less: much of it repeats what it was told. So does what only asks; and the question
-- itself is worth nothing, and lends nothing to its neighbours.
CREATE FUNCTION pgmnemo._share(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN (c).repeats THEN 0
                ELSE CASE WHEN (c).assistant THEN (s).assistant_weight ELSE 1 END
                     * CASE WHEN (c).asks THEN (s).question_weight ELSE 1 END END
$$;
