CREATE FUNCTION pgmnemo.forget_project(project_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN project_id IS NULL THEN 0 ELSE pgmnemo.forget_all(pgmnemo._session_tenant(), project_id) END;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_project IS 'forget_all for one project of the session''s tenant; NULL is no project';
