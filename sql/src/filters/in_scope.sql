-- Return whether a project is in a call's scope. The test of the interval can use an index; a set of projects is
-- tested by its members.
CREATE FUNCTION pgmnemo._in_scope(project uuid, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT project BETWEEN (scope).first_project AND (scope).last_project
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL
            OR project = ANY (((scope).filter).projects))
$$;
