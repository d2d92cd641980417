-- Every candidate with what comes to it from others, its score and its rank. context: the greatest relevance among
-- those of the same project and the same moment.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (rank bigint, score float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT row_number() OVER (ORDER BY x.score DESC, (d.own).external_id, (d.own).project_id), x.score, d.own
      FROM (SELECT ROW(c.lesson_id, c.project_id, c.external_id, c.occurred_at, c.place, c.words, c.assistant, c.cosine,
                       c.bm25, c.passage_terms, c.passage_cosine, c.pair_cosine, c.temporal,
                       CASE WHEN c.occurred_at IS NULL THEN r.relevance
                            ELSE max(r.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END,
                       coalesce(n.neighbours, 0), c.recency, c.importance,
                       coalesce(g.graph, 0))::pgmnemo.candidate AS own
              FROM unnest(candidates) c
             CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = c.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id
            OFFSET 0) d
     CROSS JOIN LATERAL pgmnemo._score(d.own, s) x
$$;
