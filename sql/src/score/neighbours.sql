-- Return the relevance that reaches candidates from those up to two places before and after
-- (pgmnemo._from_neighbours): an answer often follows its question, and a thought goes on in the next turn. An
-- assistant's lesson gains nothing, because it repeats; and it adds nothing to later lessons, only to the earlier
-- lessons, which it answers.
CREATE FUNCTION pgmnemo._neighbours(candidates pgmnemo.candidate[], s pgmnemo.settings)
RETURNS TABLE (lesson_id bigint, neighbours float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT c.lesson_id,
           pgmnemo._from_neighbours(c.before_step, c.before, c.before_words, c.earlier_step, c.earlier,
                                    s.neighbours_half_length)
           + pgmnemo._from_neighbours(c.after_step, c.after, c.after_words, c.later_step, c.later,
                                      s.neighbours_half_length)
      FROM (SELECT c.lesson_id, c.assistant,
                   g.place - lag(g.place) OVER places AS before_step, lag(c.words) OVER places AS before_words,
                   lag(g.onward) OVER places AS before,
                   g.place - lag(g.place, 2) OVER places AS earlier_step, lag(g.onward, 2) OVER places AS earlier,
                   lead(g.place) OVER places - g.place AS after_step, lead(c.words) OVER places AS after_words,
                   lead(r.relevance) OVER places AS after,
                   lead(g.place, 2) OVER places - g.place AS later_step, lead(r.relevance, 2) OVER places AS later
              FROM unnest(candidates) c
             CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
             CROSS JOIN LATERAL (SELECT c.place::bigint, CASE WHEN c.assistant THEN 0 ELSE r.relevance END)
                   AS g (place, onward)
             WHERE c.place IS NOT NULL
            WINDOW places AS (PARTITION BY c.project_id ORDER BY c.place, c.external_id)) c
     WHERE c.assistant IS NOT TRUE;
END
$$;

COMMENT ON FUNCTION pgmnemo._neighbours IS 'neighbours component, 0 or more, in units of relevance, of candidates with a position';
