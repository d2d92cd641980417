-- Return the `most` vectors in scope nearest to a direction through the tenant's HNSW index: approximate, and NULL
-- where the index was dropped since this snapshot. enable_sort is off because only the index gives the order without
-- it. The caller's HNSW settings must not decide how far a scan goes.
CREATE FUNCTION pgmnemo._hnsw_rows(hnsw_table text, scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                   ef_search integer, most integer, OUT lessons bigint[], OUT distances float8[])
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
    projects constant uuid[] := (scope.filter).projects;
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, widest))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.max_scan_tuples', '20000', true), set_config('hnsw.scan_mem_multiplier', '1', true);
    BEGIN
        EXECUTE format('SELECT array_agg(n.lesson_id), array_agg(n.distance)'
                       '  FROM (SELECT g.lesson_id, g.embedding OPERATOR(@extschema:vector@.<#>) $1 AS distance'
                       '          FROM pgmnemo.%I g %s'
                       '         ORDER BY g.embedding OPERATOR(@extschema:vector@.<#>) $1 LIMIT $2) n', hnsw_table,
                       CASE WHEN projects IS NOT NULL THEN 'WHERE g.project_id = ANY ($5)'
                            WHEN scope.first_project = scope.last_project
                            THEN 'WHERE g.project_id BETWEEN $3 AND $4' ELSE '' END)
           INTO lessons, distances USING direction, most, scope.first_project, scope.last_project, projects;
        lessons := coalesce(lessons, '{}');
        distances := coalesce(distances, '{}');
    EXCEPTION WHEN undefined_table THEN
        lessons := NULL;
    END;
    PERFORM set_config(n, value, true) FROM unnest(names, before) AS u (n, value);
END
$$;
