-- Return lessons of 0.3.1 and before with unprintable metadata, which later versions refuse.
CREATE FUNCTION pgmnemo._unwritable_lessons(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, external_id text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.metadata <> '{}' AND pgmnemo._holds_unprintable(l.metadata)
$$;
