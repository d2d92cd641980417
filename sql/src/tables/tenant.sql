-- Each row is a tenant, to lock: a session that removes or merges postings locks it to the end of its transaction.
-- Only the verbs reach it, so no login can block another tenant's writers.
CREATE TABLE pgmnemo.tenant (
    tenant_id uuid PRIMARY KEY,
    language  text
);

COMMENT ON TABLE pgmnemo.tenant IS 'one row for each tenant whose lessons were ever changed, or that has a language; its lock orders the tenant''s writers';
COMMENT ON COLUMN pgmnemo.tenant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant.language IS 'the language of texts that are written without one, as pgmnemo.set_language was given it: a text search configuration, or auto: and the one for texts whose language is not recognized; NULL: auto';
