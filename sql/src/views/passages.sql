-- The view calls a function, so that a reader's own query plan cannot count other tenants' rows.
CREATE VIEW pgmnemo.passages AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_passages(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.passages IS 'the passages of lessons of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
