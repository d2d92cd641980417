-- The postings go at once: taking lessons out of blocks one by one would cost far more. A tenant without lessons needs
-- no HNSW indexes; its claim goes first, so that whoever brings vectors into them meanwhile is waited for.
CREATE FUNCTION pgmnemo.forget_all(tenant uuid, project_id uuid DEFAULT NULL,
                                   caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    scope pgmnemo.scope := pgmnemo._scope(tenant, project_id);
    gone bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    IF forget_all.project_id IS NULL THEN
        DELETE FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant;
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    DELETE FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.project_id BETWEEN scope.first_project AND scope.last_project;
    IF project_id IS NULL THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
    END IF;
    DELETE FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN scope.first_project AND scope.last_project;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_all IS 'every lesson of one project, or with NULL of the tenant, gone for good; returns how many there were, softly forgotten ones included. Without any a tenant gives up the HNSW indexes';
