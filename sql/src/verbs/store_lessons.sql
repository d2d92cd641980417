CREATE FUNCTION pgmnemo.store_lessons(lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM pgmnemo.store_set(pgmnemo._session_tenant(), lessons);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lessons IS 'store_set for the session''s tenant';
