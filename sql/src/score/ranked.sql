-- Every candidate with its score and rank.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], s pgmnemo.settings)
RETURNS TABLE (rank bigint, score float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT row_number() OVER (ORDER BY x.score DESC, c.external_id, c.project_id), x.score, c
      FROM unnest(candidates) c
     CROSS JOIN LATERAL pgmnemo._score(c, s) x
$$;
