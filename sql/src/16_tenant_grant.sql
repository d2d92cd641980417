-- Only the extension's owner writes here; every policy reads it. By name, not oid, so that it survives a dump.
CREATE TABLE pgmnemo.tenant_grant (
    tenant_id  uuid        NOT NULL,
    grantee    name        NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    granted_by name        NOT NULL DEFAULT current_user,
    PRIMARY KEY (tenant_id, grantee)
);

COMMENT ON TABLE pgmnemo.tenant_grant IS 'which role reaches which tenant; written by the extension''s owner alone';
COMMENT ON COLUMN pgmnemo.tenant_grant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant_grant.grantee IS 'name of the role that reaches it, and so do the members that inherit from it; revoke before dropping the role';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_at IS 'when it was granted';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_by IS 'the role that granted it';
