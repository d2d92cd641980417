-- Return whether a project is in a call's scope: the interval serves the index, and a set is tested by its members.
CREATE FUNCTION pgmnemo._in_scope(project uuid, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT project BETWEEN (scope).first_project AND (scope).last_project
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL
            OR project = ANY (((scope).filter).projects))
$$;
