-- Return the score of a lesson that answers a question well, which makes scores of different questions comparable.
-- Words of no lesson count as well, because a question of such words is about something else. One lesson does not
-- contain all words of a long question, and the best of many lessons is nearer by chance: hence the two roots. Their
-- constants were chosen on LoCoMo and BEAM (benchmarks/floor.py).
CREATE FUNCTION pgmnemo._ideal_score(asked pgmnemo.question, s pgmnemo.settings, words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (1 + (s).context_weight)
           * (coalesce((asked).reach * (asked).brevity * least(1, sqrt(4.0::float8 / nullif(words, 0))), 0)
              + CASE WHEN (asked).direction IS NULL THEN 0
                     ELSE ((s).passage_cosine_weight + (s).pair_cosine_weight + (s).cosine_weight)
                          * 0.5 * sqrt(pgmnemo._idf((asked).held, 0) / 5) END
              + CASE WHEN cardinality((asked).since) > 0 THEN (s).temporal_weight * (asked).share
                                                             * CASE WHEN (asked).direction IS NULL THEN 0.5 ELSE 1 END
                     ELSE 0 END)
$$;

COMMENT ON FUNCTION pgmnemo._ideal_score IS 'words: how many the question has; 0 or more, in units of the score';
