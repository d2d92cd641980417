-- Graph proximity of every lesson that an edge joins, directly or not, to one of the most relevant candidates.
CREATE FUNCTION pgmnemo._graph_leg(tenant uuid, candidates pgmnemo.candidate[], s jsonb, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, graph float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    seeds bigint[];
    strengths float8[];
BEGIN
    IF (s ->> 'graph_weight')::float8 = 0
       OR NOT EXISTS (SELECT FROM pgmnemo.lesson_edge e WHERE e.tenant_id = tenant) THEN
        RETURN;
    END IF;
    SELECT array_agg(c.lesson_id), array_agg(c.relevance) INTO seeds, strengths
      FROM (SELECT c.lesson_id, c.relevance
              FROM unnest(candidates) c
             WHERE c.relevance > 0
             ORDER BY c.relevance DESC, c.external_id, c.project_id
             LIMIT (s ->> 'graph_seeds')::float8) c;
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph)
      FROM pgmnemo._graph_proximity(tenant, seeds, strengths, (s ->> 'graph_depth')::float8::integer,
                                    greatest((s ->> 'pool_depth')::float8::integer, 200), valid_time, s ->> 'gate_strict') g
     GROUP BY g.lesson_id;
END
$$;
