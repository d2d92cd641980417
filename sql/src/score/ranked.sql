-- Return every candidate with the components from other lessons and its score; ties go by external id, then by project.
-- context: the greatest relevance among lessons of the same project and moment; second score: with the lesson's own
-- relevance as its context, since a lesson that only shares a moment with an answer is not an answer. PostgreSQL
-- inlines it into the caller's query, so that no records are built and taken apart again.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (score float8, alone float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.score, x.score - (s).context_weight * (d.around - d.relevance), o.own
      FROM (SELECT v.*,
                   CASE WHEN v.occurred_at IS NULL THEN v.relevance
                        ELSE max(v.relevance) OVER (PARTITION BY v.project_id, v.occurred_at) END AS around,
                   coalesce(n.neighbours, 0) AS beside, coalesce(g.graph, 0) AS along
              FROM (SELECT c.*, r.relevance FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                    OFFSET 0) v
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id) d
     CROSS JOIN LATERAL (
            SELECT ROW(d.lesson_id, d.project_id, d.external_id, d.occurred_at, d.place, d.words, d.assistant, d.cosine,
                       d.bm25, d.passage_terms, d.passage_cosine, d.pair_cosine, d.temporal, d.around, d.beside,
                       d.recency, d.importance, d.along, d.coverage, d.center, d.mark,
                       d.repeats, d.share)::pgmnemo.candidate) AS o (own)
     CROSS JOIN LATERAL pgmnemo._score(d.relevance, o.own, s) x
$$;
