-- Return vectors that differ from what the verbs write. Half precision leaves a unit vector at most 0.0005 too long or
-- too short. `dims` is NULL for generations outside the tenant's space.
CREATE FUNCTION pgmnemo._wrong_vectors(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, generation smallint, number smallint, in_project uuid, norm float8,
               found_dims integer, dims integer, bare boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.project_id, v.lesson_id, v.generation, v.number, l.project_id, n.norm, n.dims, s.dims, b.bare
      FROM pgmnemo.lesson_vector v
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = v.lesson_id
      LEFT JOIN (SELECT u.generation, u.dims
                   FROM pgmnemo.embedding_space e
                  CROSS JOIN LATERAL (VALUES (e.generation, e.dimensions), (e.next_generation, e.next_dimensions))
                                     AS u (generation, dims)
                  WHERE e.tenant_id = tenant) s ON s.generation = v.generation
     CROSS JOIN LATERAL (
            SELECT @extschema:vector@.l2_norm(v.embedding), @extschema:vector@.vector_dims(v.embedding)
            OFFSET 0) AS n (norm, dims)
     CROSS JOIN LATERAL (
            SELECT v.number > 0 AND NOT EXISTS (
                       SELECT FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = v.lesson_id AND p.number = v.number)
            OFFSET 0) AS b (bare)
     WHERE v.tenant_id = tenant
       AND (v.project_id <> l.project_id OR n.norm NOT BETWEEN 0.999 AND 1.001 OR n.dims IS DISTINCT FROM s.dims
            OR b.bare)
$$;
