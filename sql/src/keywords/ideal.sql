-- The score of a lesson that answers a question well: what makes scores of different questions comparable. Words that
-- no lesson holds count as well, for a question of such words is about something else. One lesson does not hold all
-- words of a long question, and the best of many lessons is nearer by chance: hence the two roots. Their constants
-- were chosen on LoCoMo and BEAM, with MiniLM (benchmarks/floor.py).
CREATE FUNCTION pgmnemo._ideal(asked pgmnemo.question, s pgmnemo.settings, words integer, idf_sum float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (1 + (s).context_weight)
           * (coalesce((((s).bm25_weight + (s).passage_terms_weight) * idf_sum
                        + (s).passage_terms_weight * (s).passage_term_bonus * words)
                       * least(1, sqrt(4.0::float8 / nullif(words, 0))), 0)
              + CASE WHEN (asked).direction IS NULL THEN 0
                     ELSE ((s).passage_cosine_weight + (s).pair_cosine_weight + (s).cosine_weight)
                          * sqrt(pgmnemo._idf((asked).held, 0) / 5) END
              + CASE WHEN cardinality((asked).since) > 0 THEN (s).temporal_weight * (asked).share ELSE 0 END)
$$;

COMMENT ON FUNCTION pgmnemo._ideal IS 'idf_sum: of all distinct words of the question, those that no lesson holds among them; 0 or more, in units of the score';
