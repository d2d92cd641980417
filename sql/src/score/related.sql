-- Candidates with what comes to them from others.
-- context: the greatest relevance among those of the same project and the same moment.
-- neighbours: the relevance of those up to two places before and after (pgmnemo._passed). An assistant's lesson gains
-- nothing, for it repeats; and nothing comes from an assistant's lesson to those after it, only to the ones that it
-- answers.
CREATE FUNCTION pgmnemo._related(candidates pgmnemo.candidate[], linked bigint[], graphs float8[], s pgmnemo.settings)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        SELECT ROW(c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.words, c.assistant, c.cosine,
                   c.bm25, c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal, c.context,
                   CASE WHEN c.place IS NULL OR coalesce(c.assistant, false) THEN 0
                        ELSE pgmnemo._passed(c.before_step, c.before, c.before_words, c.earlier_step, c.earlier,
                                             s.neighbours_half_length)
                             + pgmnemo._passed(c.after_step, c.after, c.after_words, c.later_step, c.later,
                                               s.neighbours_half_length)
                   END, c.recency, c.importance, coalesce(g.graph, 0))::pgmnemo.candidate
          FROM (SELECT c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.words, c.assistant, c.cosine,
                       c.bm25, c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal, c.recency, c.importance,
                       CASE WHEN c.occurred_at IS NULL THEN r.relevance
                            ELSE max(r.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END AS context,
                       c.place - lag(c.place) OVER places AS before_step, lag(c.words) OVER places AS before_words,
                       lag(g.onward) OVER places AS before,
                       c.place - lag(c.place, 2) OVER places AS earlier_step, lag(g.onward, 2) OVER places AS earlier,
                       lead(c.place) OVER places - c.place AS after_step, lead(c.words) OVER places AS after_words,
                       lead(r.relevance) OVER places AS after,
                       lead(c.place, 2) OVER places - c.place AS later_step, lead(r.relevance, 2) OVER places AS later
                  FROM unnest(candidates) c
                 CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                 CROSS JOIN LATERAL (SELECT CASE WHEN c.assistant THEN 0 ELSE r.relevance END) AS g (onward)
                WINDOW places AS (PARTITION BY c.project_id ORDER BY c.place, c.external_id)) c
          LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id);
END
$$;
