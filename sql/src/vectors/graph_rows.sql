-- The `most` vectors in scope nearest to a direction through each HNSW index, one a width: approximate. enable_sort is
-- off because only the index gives the order without it. What the caller has set for the graphs must not decide how
-- far a scan goes through other tenants' vectors: that would count them.
CREATE FUNCTION pgmnemo._graph_rows(scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                    ef_search integer, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
DECLARE
    names constant text[] := '{hnsw.ef_search,hnsw.iterative_scan,hnsw.max_scan_tuples,hnsw.scan_mem_multiplier}';
    widest constant integer := 1000;  -- the greatest hnsw.ef_search
    before text[] := ARRAY(SELECT current_setting(n, true)
                           FROM unnest(names) WITH ORDINALITY AS u (n, place) ORDER BY place);
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
    projects uuid[] := (scope.filter).projects;
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, widest))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.max_scan_tuples', '20000', true), set_config('hnsw.scan_mem_multiplier', '1', true);
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(384) OPERATOR(@extschema:vector@.<#>) narrow
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 384 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(384) OPERATOR(@extschema:vector@.<#>) narrow LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(768) OPERATOR(@extschema:vector@.<#>) middle
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 768 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(768) OPERATOR(@extschema:vector@.<#>) middle LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(1024) OPERATOR(@extschema:vector@.<#>) direction
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 1024 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(1024) OPERATOR(@extschema:vector@.<#>) direction LIMIT most;
    PERFORM set_config(n, value, true) FROM unnest(names, before) AS u (n, value);
END
$$;
