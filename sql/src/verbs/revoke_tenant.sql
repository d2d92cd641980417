CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._note_revocation();
    DELETE FROM pgmnemo.tenant_grant g
     WHERE g.tenant_id = revoke_tenant.tenant
       AND (g.grantee::oid = (SELECT r.oid FROM pg_roles r WHERE r.rolname = revoke_tenant.grantee)
            OR g.grantee::text = revoke_tenant.grantee::text
               AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.grantee::oid));
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.revoke_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.revoke_tenant(uuid, name) IS 'takes back what grant_tenant gave, and says whether there was a grant: from its commit on it binds every call, and in an open REPEATABLE READ or SERIALIZABLE transaction the next one gives 40001; of a dropped role give the number that list_grants shows; only the extension''s owner may';
