-- Return which of these lessons a call may return, at most `most`. The sub-select makes the planner read by their
-- ids: without statistics it assumes that an interval of projects has fewer rows.
CREATE FUNCTION pgmnemo._recallable_ids(scope pgmnemo.scope, ids bigint[], most integer)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT l.id
                   FROM (SELECT l.* FROM pgmnemo.lesson l
                          WHERE l.tenant_id = (scope).tenant AND l.id = ANY (ids) OFFSET 0) l
                  WHERE pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._is_listed(l, scope)
                  LIMIT most)
$$;
