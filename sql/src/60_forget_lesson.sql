CREATE FUNCTION pgmnemo.forget_lesson(project_id uuid, external_id text, hard boolean DEFAULT false)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    IF hard THEN
        DELETE FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = forget_lesson.project_id
           AND l.external_id = forget_lesson.external_id;
    ELSE
        UPDATE pgmnemo.lesson l SET active = false
         WHERE l.tenant_id = tenant AND l.project_id = forget_lesson.project_id
           AND l.external_id = forget_lesson.external_id AND l.active;
    END IF;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_lesson(uuid, text, boolean) IS 'soft: out of recall and out of the statistics, and storing the lesson again restores it; hard: gone, with its edges. Returns whether anything was forgotten';
