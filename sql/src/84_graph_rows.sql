-- The same through the HNSW indexes, one a width: approximate, and `most` of each. enable_sort is off because only
-- the index gives the order without it.
CREATE FUNCTION pgmnemo._graph_rows(tenant uuid, first_project uuid, last_project uuid, direction halfvec, ef_search integer, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
DECLARE
    ef_before text := current_setting('hnsw.ef_search', true);
    iterative_before text := current_setting('hnsw.iterative_scan', true);
    narrow halfvec := subvector(direction, 1, 384);
    middle halfvec := subvector(direction, 1, 768);
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, 1000))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(384) <#> narrow FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 384 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(384) <#> narrow LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(768) <#> middle FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 768 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(768) <#> middle LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(1024) <#> direction FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 1024 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(1024) <#> direction LIMIT most;
    PERFORM set_config('hnsw.ef_search', ef_before, true), set_config('hnsw.iterative_scan', iterative_before, true);
END
$$;
