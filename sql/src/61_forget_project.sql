-- Its postings go first and at once: taking lessons out of blocks one by one would cost far more.
CREATE FUNCTION pgmnemo.forget_project(project_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    gone bigint;
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.project_id = forget_project.project_id;
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.project_id = forget_project.project_id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_project(uuid) IS 'every lesson of one project, gone for good; returns how many there were, softly forgotten ones included';
