CREATE FUNCTION pgmnemo.forget_lesson(project_id uuid, external_id text, hard boolean DEFAULT false,
                                      revive boolean DEFAULT false)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.forget(pgmnemo._session_tenant(), project_id, external_id, hard, revive);
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_lesson IS 'forget for the session''s tenant';
