CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = grant_tenant.grantee);
BEGIN
    IF tenant IS NULL OR role IS NULL THEN
        RAISE EXCEPTION 'there is no %', CASE WHEN tenant IS NULL THEN 'tenant NULL'
                                              ELSE 'role ' || coalesce(quote_ident(grantee), 'NULL') END
        USING ERRCODE = 'undefined_object', HINT = 'Name the tenant by its uuid and a role that exists (CREATE ROLE).';
    END IF;
    INSERT INTO pgmnemo.tenant_grant (tenant_id, grantee) VALUES (tenant, role) ON CONFLICT DO NOTHING;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.grant_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant(uuid, name) IS 'lets a role, and the members that inherit from it, reach a tenant; only the extension''s owner may; granting twice is granting once';
