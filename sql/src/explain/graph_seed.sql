-- Return the external id of the seed that gives a lesson its relevance along edges; NULL: no seed does.
CREATE FUNCTION pgmnemo._graph_seed(scope pgmnemo.scope, candidates pgmnemo.candidate[], seeds bigint[], lesson bigint,
                                    s pgmnemo.settings)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM pgmnemo._graph_leg(scope, candidates, seeds, s) g JOIN unnest(candidates) c ON c.lesson_id = g.seed
     WHERE g.lesson_id = lesson
$$;
