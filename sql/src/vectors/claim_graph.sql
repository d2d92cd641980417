-- Makes the HNSW indexes a tenant's where they are nobody's and it is large, whatever it has set; whether they serve
-- it then. Nobody waits for another who is about to claim them.
CREATE FUNCTION pgmnemo._claim_graph(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_lessons constant bigint := 5000;
    everything pgmnemo.scope := pgmnemo._scope(tenant, NULL);
BEGIN
    IF pgmnemo._graph_open(tenant) THEN
        RETURN true;
    ELSIF NOT pgmnemo._graphs_sound()
          OR NOT pgmnemo._holds_more(tenant, everything.first_project, everything.last_project, least_lessons)
          OR EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared OR g.tenant_id IS NOT NULL) THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NULL FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared OR g.tenant_id IS NOT NULL) THEN
        RETURN false;
    END IF;
    INSERT INTO pgmnemo.vector_graph VALUES (tenant, false) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
