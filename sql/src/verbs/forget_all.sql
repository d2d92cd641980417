-- Forget all lessons. The postings are deleted at once if no segment contains lessons of the project: removal from
-- single blocks would cost far more. The HNSW index of a tenant without lessons is deleted too, and its next vector
-- may have another dimension; the verb does not wait for sessions that write vectors, and then their dimension
-- stays. An older snapshot would not show their vectors, so it keeps the dimension.
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
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._write_tenant(tenant);
    IF project_id IS NULL THEN
        PERFORM pgmnemo._drop_segments(tenant, ARRAY(
            SELECT c.number FROM pgmnemo.segment c WHERE c.tenant_id = tenant));
    END IF;
    IF NOT EXISTS (SELECT FROM pgmnemo.segment_project j
                    WHERE j.tenant_id = tenant AND j.project_id = forget_all.project_id) THEN
        DELETE FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.project_id BETWEEN scope.first_project AND scope.last_project;
    END IF;
    IF project_id IS NULL THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
        PERFORM pgmnemo._hnsw_remove(tenant);
    END IF;
    DELETE FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN scope.first_project AND scope.last_project;
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF project_id IS NULL AND current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM pgmnemo._remove_empty_space(tenant);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_all IS 'every lesson of one project, or with NULL of the tenant, gone for good; returns how many there were, softly forgotten ones included. A tenant without any gives up its HNSW index, and its next vector may be of another dimension';
