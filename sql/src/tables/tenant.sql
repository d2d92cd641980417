-- A row to lock: whoever takes out or merges postings of a tenant holds it to the end of the transaction. Nobody but
-- the verbs reaches it, so no login can hold up another tenant's writers.
CREATE TABLE pgmnemo.tenant (
    tenant_id uuid PRIMARY KEY
);

COMMENT ON TABLE pgmnemo.tenant IS 'one row for each tenant whose lessons were ever changed; its lock orders the tenant''s writers';
COMMENT ON COLUMN pgmnemo.tenant.tenant_id IS 'the tenant';
