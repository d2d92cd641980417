-- Makes the HNSW indexes a tenant's where they are nobody's and it has many lessons with vectors, whatever it has set;
-- whether they serve it then. Nobody waits for another who is about to claim them. Who has them holds his claim to the
-- end of the transaction: it cannot be given up while vectors enter the indexes on the strength of it.
CREATE FUNCTION pgmnemo._claim_graph(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_lessons constant bigint := 5000;
    everything pgmnemo.scope := pgmnemo._scope(tenant, NULL);
BEGIN
    IF NOT pgmnemo._graphs_sound() THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant FOR KEY SHARE;
    IF FOUND OR EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared) THEN
        RETURN true;
    ELSIF EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NOT NULL)
          OR NOT pgmnemo._holds_more(tenant, everything.first_project, everything.last_project, least_lessons)
          -- of a lesson's vectors, its own and its first passage's: two at most
          OR (SELECT count(DISTINCT v.lesson_id)
                FROM (SELECT p.lesson_id FROM pgmnemo.passage p
                       WHERE p.tenant_id = tenant AND p.embedding IS NOT NULL AND p.number <= 1
                       LIMIT 2 * least_lessons + 1) v) <= least_lessons THEN
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
