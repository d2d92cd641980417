-- From which seed the relevance comes that reaches a lesson along edges; NULL: from none.
CREATE FUNCTION pgmnemo._graph_seed(scope pgmnemo.scope, candidates pgmnemo.candidate[], seeds bigint[], lesson bigint,
                                    s pgmnemo.settings)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM unnest(candidates) c
     CROSS JOIN LATERAL pgmnemo._graph_leg(scope, candidates, ARRAY[c.lesson_id], s) g
     WHERE c.lesson_id = ANY (seeds) AND g.lesson_id = lesson
     ORDER BY g.graph DESC, c.external_id, c.project_id
     LIMIT 1
$$;
