-- The `most` vectors in scope nearest to a direction, by reading them all: exact. The index alone has what it takes.
CREATE FUNCTION pgmnemo._vector_rows(scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                     flags boolean[], most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
    projects uuid[] := (scope.filter).projects;
BEGIN
    RETURN QUERY
    SELECT p.lesson_id,
           p.embedding OPERATOR(@extschema:vector@.<#>)
             CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END AS distance
      FROM pgmnemo.passage p
     WHERE p.tenant_id = scope.tenant AND p.indexed = ANY (flags) AND p.width = ANY ('{384,768,1024}')
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects)) AND p.embedding IS NOT NULL
     ORDER BY distance, p.lesson_id
     LIMIT most;
END
$$;
