-- Those of these lessons that a call may answer with, at most so many.
CREATE FUNCTION pgmnemo._recallable_of(scope pgmnemo.scope, ids bigint[], most integer)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT l.id
                   FROM (SELECT DISTINCT i FROM unnest(ids) i) AS u (id)
                  CROSS JOIN LATERAL (
                        SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = u.id OFFSET 0) l
                  WHERE pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._recallable(l, scope)
                  LIMIT most)
$$;
