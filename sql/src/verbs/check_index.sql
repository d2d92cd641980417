CREATE FUNCTION pgmnemo.check_index()
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM pgmnemo.check(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.check_index IS 'check for the session''s tenant';
