-- Every candidate with its score and rank.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], s pgmnemo.settings)
RETURNS TABLE (rank bigint, score float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT row_number() OVER (ORDER BY x.score DESC, (x.c).external_id, (x.c).project_id), x.score, x.c
      FROM (SELECT c, pgmnemo._score(c, s) AS score FROM unnest(candidates) AS c OFFSET 0) x
$$;
