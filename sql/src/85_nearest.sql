-- The vector leg: exact where the scope is small, through the index where it is large. pgvector ends an index
-- scan after hnsw.max_scan_tuples, whatever a filter left of them: what comes back short is scanned exactly.
CREATE FUNCTION pgmnemo._nearest(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer, s jsonb,
                                 wanted_role text, valid_at timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    held bigint;
    found_ids bigint[];
BEGIN
    IF query IS NULL THEN
        RETURN '{}';
    END IF;
    SELECT coalesce(sum(p.lesson_count), 0) INTO held
      FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project;
    IF held > (s ->> 'exact_scan_limit')::float8 THEN
        found_ids := ARRAY(SELECT pgmnemo._nearest_indexed(
            tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate,
            (s ->> 'ef_search')::float8::integer));
        IF cardinality(found_ids) >= least(depth, held) THEN
            RETURN found_ids;
        END IF;
    END IF;
    RETURN ARRAY(SELECT pgmnemo._nearest_exact(
        tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate));
END
$$;
