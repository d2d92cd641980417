-- Whose vectors the HNSW indexes hold. A search passes vectors of whoever is in them, and PostgreSQL counts for
-- everybody the rows and pages that a call met: so a graph is one tenant's, unless the extension's owner shares it.
CREATE TABLE pgmnemo.vector_graph (
    tenant_id uuid,
    shared    boolean NOT NULL DEFAULT false
);
INSERT INTO pgmnemo.vector_graph VALUES (NULL, false);

COMMENT ON TABLE pgmnemo.vector_graph IS 'a row to lock while a tenant claims the HNSW indexes (NULL, false), and who has them: one tenant, or shared by all';
COMMENT ON COLUMN pgmnemo.vector_graph.tenant_id IS 'the tenant whose vectors they hold';
COMMENT ON COLUMN pgmnemo.vector_graph.shared IS 'whether they are all tenants'' (pgmnemo.share_vector_index)';
