-- A role sees the grants that reach it; the extension's owner sees and writes all.
ALTER TABLE pgmnemo.tenant_grant ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_grants ON pgmnemo.tenant_grant FOR SELECT
    USING (pg_catalog.pg_has_role(pg_catalog.to_regrole(pg_catalog.quote_ident(grantee)), 'USAGE'));
CREATE POLICY owner_grants ON pgmnemo.tenant_grant
    USING (pg_catalog.pg_has_role(
        (SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = 'pgmnemo.tenant_grant'::regclass), 'USAGE'));
GRANT SELECT ON pgmnemo.tenant_grant TO PUBLIC;
