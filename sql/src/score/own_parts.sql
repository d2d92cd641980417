-- Return what a candidate's own components add to its score, in the order of the sum. Only this function and
-- _context_parts define the score. A leg that was not asked adds nothing; without cosines, which tell that a lesson is
-- about something else, a time counts half. The result is a row: unlike an array it costs nothing.
CREATE FUNCTION pgmnemo._own_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (bm25 float8, passage_terms float8, passage_cosine float8, pair_cosine float8, cosine float8,
               temporal float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (c).share * (c).coverage * (s).bm25_weight * coalesce((c).bm25, 0),
           (c).share * (c).coverage * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
           (c).share * (s).passage_cosine_weight * pgmnemo._nearness((c).passage_cosine, (c).center),
           (c).share * (s).pair_cosine_weight * pgmnemo._nearness((c).pair_cosine, (c).center),
           (c).share * (s).cosine_weight * pgmnemo._nearness((c).cosine, (c).center),
           (c).share * (s).temporal_weight * (c).temporal * CASE WHEN (c).center IS NULL THEN 0.5 ELSE 1 END
$$;
