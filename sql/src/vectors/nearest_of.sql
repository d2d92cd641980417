-- The `depth` of a scope's few lessons that have the nearest vector, exactly.
CREATE FUNCTION pgmnemo._nearest_of(scope pgmnemo.scope, direction @extschema:vector@.halfvec, depth integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
BEGIN
    RETURN ARRAY(
        SELECT l.id
          FROM unnest(scope.ids) AS u (id)
         CROSS JOIN LATERAL (
                SELECT min(p.embedding OPERATOR(@extschema:vector@.<#>)
                           CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END) AS distance
                  FROM pgmnemo.passage p WHERE p.tenant_id = scope.tenant AND p.lesson_id = u.id) v
         CROSS JOIN LATERAL (
                SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.id = u.id OFFSET 0) l
         WHERE v.distance IS NOT NULL
         ORDER BY v.distance, l.external_id, l.project_id
         LIMIT depth);
END
$$;
