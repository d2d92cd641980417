-- The `most` vectors in scope nearest to a direction, by reading them all: exact. The index alone has what it takes.
CREATE FUNCTION pgmnemo._vector_rows(tenant uuid, first_project uuid, last_project uuid, direction halfvec, flags boolean[], most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    narrow halfvec := subvector(direction, 1, 384);
    middle halfvec := subvector(direction, 1, 768);
BEGIN
    RETURN QUERY
    SELECT p.lesson_id, p.embedding <#> CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END AS distance
      FROM pgmnemo.passage p
     WHERE p.tenant_id = tenant AND p.indexed = ANY (flags) AND p.width = ANY ('{384,768,1024}')
       AND p.project_id BETWEEN first_project AND last_project AND p.embedding IS NOT NULL
     ORDER BY distance, p.lesson_id
     LIMIT most;
END
$$;
