-- The candidates of one recall as pgmnemo.recall_lessons takes them, and by which way each came; `lesson` joins them
-- last, where none did, to see what it would be worth.
CREATE FUNCTION pgmnemo._pool(
    tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, s jsonb, w pgmnemo.weights, k integer,
    by_words boolean, moment timestamptz, asked_role text, valid_time timestamptz, lesson bigint,
    OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT linked bigint[], OUT graphs float8[],
    OUT seeds bigint[], OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    depth integer := greatest((s ->> 'pool_depth')::float8, k);
    ids bigint[];
    totals float8[];
    more bigint[];
BEGIN
    SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
      FROM pgmnemo._keyword_leg(tenant, first_project, last_project, asked, depth, gate, asked_role, valid_time) t;
    by_vector := pgmnemo._vector_leg(tenant, first_project, last_project, asked, depth, s, asked_role, valid_time);
    ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
    filled := ARRAY(SELECT pgmnemo._fill(
        tenant, first_project, last_project, ids, greatest(k - cardinality(ids), 0), asked_role, valid_time, gate));
    ids := ids || filled;
    candidates := pgmnemo._candidates(tenant, ids, totals, asked, w, by_words, moment);
    seeds := ARRAY(SELECT c.lesson_id FROM unnest(candidates) c WHERE c.relevance > 0
                    ORDER BY c.relevance DESC, c.external_id, c.project_id LIMIT (s ->> 'graph_seeds')::float8);
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, candidates, s, valid_time) g;
    more := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, asked_role, valid_time, gate));
    IF lesson <> ALL (ids || more) THEN
        more := more || lesson;
    END IF;
    candidates := candidates || pgmnemo._candidates(tenant, more, '{}', asked, w, by_words, moment);
END
$$;
