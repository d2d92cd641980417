-- Return whether a role has a grant of a tenant, directly or by an inherited membership. Who may write may read.
CREATE FUNCTION pgmnemo._has_grant(role name, tenant uuid, access text DEFAULT 'read')
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.tenant_grant g
                    WHERE g.tenant_id = tenant AND g.access IN (_has_grant.access, 'write')
                      AND pg_has_role(role, g.grantee::oid, 'USAGE'));
END
$$;
