-- Return the `most` vectors in scope nearest to a direction by a full scan: exact. Narrow vectors are in the index
-- itself. Without `merged`: only vectors outside the HNSW index. PostgreSQL inlines it.
CREATE FUNCTION pgmnemo._scanned_vectors(scope pgmnemo.scope, projects uuid[], generation smallint,
                                         direction @extschema:vector@.halfvec, merged boolean, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT a.lesson_id, a.distance
      FROM (SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction AS distance
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _scanned_vectors.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) <= 1250
             UNION ALL
            SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _scanned_vectors.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) > 1250
             UNION ALL
            SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _scanned_vectors.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND v.indexed AND merged) a
     ORDER BY a.distance, a.lesson_id
     LIMIT most
$$;
