CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = grant_tenant.grantee) THEN
        RAISE EXCEPTION 'there is no role %', quote_ident(grantee)
        USING ERRCODE = 'undefined_object', HINT = 'CREATE ROLE first.';
    END IF;
    INSERT INTO pgmnemo.tenant_grant (tenant_id, grantee) VALUES (tenant, grantee) ON CONFLICT DO NOTHING;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.grant_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant(uuid, name) IS 'lets a role, and the members that inherit from it, reach a tenant; only the extension''s owner may; granting twice is granting once';
