-- Return whether a call's scope is all projects of its tenant.
CREATE FUNCTION pgmnemo._is_whole_tenant(scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (scope).first_project = '00000000-0000-0000-0000-000000000000'
       AND (scope).last_project = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL)
$$;
