-- Return the segments of a tenant that hold lessons of a scope, each with a bitmap of zeros and a bitmap of the places
-- in scope; NULL: all places are.
CREATE FUNCTION pgmnemo._segment_masks(scope pgmnemo.scope)
RETURNS TABLE (segment bigint, zeros varbit, mask varbit, lesson_count bigint, token_total bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pgmnemo._is_whole_tenant(scope) THEN
        RETURN QUERY
        SELECT c.number, c.zeros, NULL::varbit, c.lesson_count::bigint, c.token_total
          FROM pgmnemo.segment c WHERE c.tenant_id = scope.tenant;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT j.segment, c.zeros,
           bit_or((~ c.zeros >> j.first_place) # (~ c.zeros >> (j.first_place + j.lesson_count)))::varbit,
           sum(j.lesson_count), sum(j.token_total)::bigint
      FROM pgmnemo.segment_project j
     CROSS JOIN LATERAL (
            SELECT c.zeros || '' AS zeros FROM pgmnemo.segment c
             WHERE c.tenant_id = scope.tenant AND c.number = j.segment OFFSET 0) c
     WHERE j.tenant_id = scope.tenant AND pgmnemo._in_scope(j.project_id, scope)
     GROUP BY j.segment, c.zeros;
END
$$;
