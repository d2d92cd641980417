-- Return the scope of a recall: one project, or with NULL all projects of the tenant. Nothing in it depends on the
-- search path, so it sets no path and PostgreSQL inlines it.
CREATE FUNCTION pgmnemo._scope(tenant uuid, project uuid, gate text DEFAULT 'off', role text DEFAULT NULL,
                               valid_at timestamptz DEFAULT NULL, moment timestamptz DEFAULT NULL,
                               known_at timestamptz DEFAULT NULL, filter pgmnemo.filter DEFAULT NULL)
RETURNS pgmnemo.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ROW(tenant, coalesce(project, '00000000-0000-0000-0000-000000000000'),
               coalesce(project, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), gate, role, valid_at,
               coalesce(valid_at, moment), known_at, filter IS DISTINCT FROM NULL, NULL,
               filter, NULL,
               role IS NULL AND valid_at IS NULL AND gate <> 'enforce' AND known_at IS NULL
               AND filter IS NOT DISTINCT FROM NULL, NULL)::pgmnemo.scope
$$;
