-- Graph proximity of every lesson that an edge joins, directly or not, to one of the most relevant candidates.
CREATE FUNCTION pgmnemo._graph_leg(tenant uuid, ids bigint[], bm25s float8[], asked vector, s jsonb, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, graph float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
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
    SELECT array_agg(v.lesson_id), array_agg(v.relevance) INTO seeds, strengths
      FROM (SELECT v.lesson_id, v.relevance
              FROM pgmnemo._relevances(tenant, ids, bm25s, asked, (s ->> 'cosine_weight')::float8, (s ->> 'bm25_weight')::float8) v
              JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = v.lesson_id
             WHERE v.relevance > 0
             ORDER BY v.relevance DESC, l.external_id, l.project_id
             LIMIT (s ->> 'graph_seeds')::float8) v;
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph)
      FROM pgmnemo._graph_proximity(tenant, seeds, strengths, (s ->> 'graph_depth')::float8::integer,
                                    (s ->> 'pool_depth')::float8::integer, valid_time, s ->> 'gate_strict') g
     GROUP BY g.lesson_id;
END
$$;
