CREATE FUNCTION pgmnemo._score(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (score float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7] + v[8] + v[9] + v[10] + v[11]
      FROM (SELECT pgmnemo._contributions(c, s) AS v OFFSET 0) x
$$;

COMMENT ON FUNCTION pgmnemo._score IS 'the score by which recall ranks: the sum of a candidate''s contributions';
