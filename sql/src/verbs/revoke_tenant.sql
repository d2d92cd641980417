CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pgmnemo.tenant_grant g
     USING pg_roles r
     WHERE r.rolname = revoke_tenant.grantee AND g.tenant_id = revoke_tenant.tenant AND g.grantee = r.oid;
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.revoke_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.revoke_tenant(uuid, name) IS 'takes back what grant_tenant gave, and says whether there was a grant; only the extension''s owner may';
