-- Forced, so that the table's owner is bound as well; only superusers and BYPASSRLS roles are not.
-- The sub-select makes PostgreSQL ask once a statement instead of once a row.
ALTER TABLE pgmnemo.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.posting
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.posting TO PUBLIC;
