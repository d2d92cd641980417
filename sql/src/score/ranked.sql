-- Every candidate with what comes to it from others, its score and its rank. context: the greatest relevance among
-- those of the same project and the same moment.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (rank bigint, score float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT row_number() OVER (ORDER BY x.score DESC, d.external_id, d.project_id), x.score, o.own
      FROM (SELECT c.*,
                   CASE WHEN c.occurred_at IS NULL THEN r.relevance
                        ELSE max(r.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END AS around,
                   coalesce(n.neighbours, 0) AS beside, coalesce(g.graph, 0) AS along
              FROM unnest(candidates) c
             CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = c.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id) d
     CROSS JOIN LATERAL (
            SELECT ROW(d.lesson_id, d.project_id, d.external_id, d.occurred_at, d.place, d.words, d.assistant, d.cosine,
                       d.bm25, d.passage_terms, d.passage_cosine, d.pair_cosine, d.temporal, d.around, d.beside,
                       d.recency, d.importance, d.along)::pgmnemo.candidate) AS o (own)
     CROSS JOIN LATERAL pgmnemo._score(o.own, s) x
$$;
