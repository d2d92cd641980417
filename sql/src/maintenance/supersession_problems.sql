-- Return lessons with a superseded_at that differs from the supersession in force.
CREATE FUNCTION pgmnemo._supersession_problems(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, superseded_at timestamptz, valid_from timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.superseded_at, x.valid_from
      FROM pgmnemo.lesson l
      LEFT JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = l.id AND x.undone_at IS NULL
     WHERE l.tenant_id = tenant AND l.superseded_at IS DISTINCT FROM x.valid_from
$$;
