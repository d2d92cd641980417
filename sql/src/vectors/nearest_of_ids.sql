-- Return the `depth` lessons with the nearest vector of a scope's few lessons, exactly.
CREATE FUNCTION pgmnemo._nearest_of_ids(scope pgmnemo.scope, asked pgmnemo.question, depth integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        SELECT l.id
          FROM (SELECT v.lesson_id, min(v.embedding OPERATOR(@extschema:vector@.<#>) asked.direction) AS distance
                  FROM pgmnemo.lesson_vector v
                 WHERE v.tenant_id = scope.tenant AND v.generation = asked.generation AND v.lesson_id = ANY (scope.ids)
                 GROUP BY v.lesson_id ORDER BY distance OFFSET 0) v
         CROSS JOIN LATERAL (
                SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.id = v.lesson_id OFFSET 0) l
         ORDER BY v.distance, l.external_id, l.project_id
         LIMIT depth);
END
$$;
