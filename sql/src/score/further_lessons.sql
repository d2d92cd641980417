-- Return recallable lessons in scope that no leg found, in key order: at most `wanted`.
CREATE FUNCTION pgmnemo._further_lessons(scope pgmnemo.scope, have bigint[], wanted integer)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id
      FROM pgmnemo.lesson l
     WHERE l.tenant_id = (scope).tenant AND pgmnemo._in_scope(l.project_id, scope)
       AND ((scope).ids IS NULL OR l.id = ANY ((scope).ids))
       AND pgmnemo._recallable(l, scope) AND l.id <> ALL (have)
     ORDER BY l.project_id, l.external_id
     LIMIT wanted
$$;
