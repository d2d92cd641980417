-- Each row is a grant; only the extension's owner writes it. It refers to the role, so that a renamed role keeps its
-- grants and its old name carries no grant; a dump writes the role's name.
CREATE TABLE pgmnemo.tenant_grant (
    tenant_id  uuid        NOT NULL,
    grantee    regrole     NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    granted_by name        NOT NULL DEFAULT current_user,
    access     text        NOT NULL DEFAULT 'write',
    PRIMARY KEY (tenant_id, grantee),
    CONSTRAINT tenant_grant_access_check CHECK (access IN ('read', 'write'))
);

COMMENT ON TABLE pgmnemo.tenant_grant IS 'which role reaches which tenant; written by the extension''s owner alone';
COMMENT ON COLUMN pgmnemo.tenant_grant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant_grant.grantee IS 'the role that reaches it, and so do the members that inherit from it';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_at IS 'when it was granted';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_by IS 'the role that granted it';
COMMENT ON COLUMN pgmnemo.tenant_grant.access IS 'read: the role recalls and reads; write: it stores, changes and forgets, too';
