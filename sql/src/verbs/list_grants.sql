CREATE FUNCTION pgmnemo.list_grants(caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name, access text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    role name := pgmnemo._verified_role(caller);
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, NULL);
    END IF;
    RETURN QUERY
    SELECT g.tenant_id, n.name, g.granted_at, g.granted_by, g.access
      FROM pgmnemo.tenant_grant g
      LEFT JOIN pg_roles r ON r.oid = g.grantee::oid
     CROSS JOIN LATERAL (SELECT coalesce(r.rolname::text, g.grantee::oid::text)) AS n (name)
     WHERE pg_has_role(role, g.grantee::oid, 'USAGE') OR pg_has_role(role, current_user::name, 'USAGE')
     ORDER BY g.tenant_id, n.name COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.list_grants IS 'the grants that reach the current role; the extension''s owner gets all of them. A number in grantee is a role that was dropped';
