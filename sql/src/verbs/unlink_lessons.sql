CREATE FUNCTION pgmnemo.unlink_lessons(project_id uuid, source text, target text, kind text,
                                       target_project uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.unlink(pgmnemo._session_tenant(), project_id, source, target, kind, target_project);
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink_lessons IS 'unlink for the session''s tenant';
