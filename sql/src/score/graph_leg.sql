-- Return the graph proximity of every lesson that edges join, directly or not, to a seed, and the seed it flows from.
CREATE FUNCTION pgmnemo._graph_leg(scope pgmnemo.scope, candidates pgmnemo.candidate[],
                                   seeds bigint[], s pgmnemo.settings)
RETURNS TABLE (lesson_id bigint, graph float8, seed bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    least_width constant integer := 200;  -- lessons that each step keeps at least, and at most
    widest      constant integer := 500;
    strengths float8[];
BEGIN
    strengths := ARRAY(SELECT r.relevance FROM unnest(seeds) WITH ORDINALITY AS d (id, place)
                         JOIN unnest(candidates) c ON c.lesson_id = d.id
                        CROSS JOIN LATERAL pgmnemo._relevance(c, s) r ORDER BY d.place);
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph), (array_agg(g.seed ORDER BY g.graph DESC, array_position(seeds, g.seed)))[1]
      FROM pgmnemo._graph_proximity(scope, seeds, strengths, s.graph_depth,
                                    least(greatest(s.pool_depth, least_width), widest)) g
     GROUP BY g.lesson_id;
END
$$;
