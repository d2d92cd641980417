CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name, access text DEFAULT 'write')
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
    ELSIF access IS NULL OR access NOT IN ('read', 'write') THEN
        RAISE EXCEPTION 'access is %, but must be read or write', quote_nullable(access)
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO pgmnemo.tenant_grant AS g (tenant_id, grantee, access)
    VALUES (tenant, role, grant_tenant.access) ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM pgmnemo.tenant_grant g
                WHERE g.tenant_id = tenant AND g.grantee = role AND g.access <> grant_tenant.access) THEN
        PERFORM pgmnemo._note_revocation();
        UPDATE pgmnemo.tenant_grant g SET access = grant_tenant.access WHERE g.tenant_id = tenant AND g.grantee = role;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.grant_tenant(uuid, name, text) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant(uuid, name, text) IS 'lets a role, and the members that inherit from it, reach a tenant: access is write, or read for recall and the other verbs that change nothing; granting again with another access changes it; only the extension''s owner may';
