CREATE FUNCTION pgmnemo.unlink_lessons(project_id uuid, source text, target text, kind text, target_project uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    ends bigint[] := ARRAY[pgmnemo._lesson_id(tenant, project_id, source),
                           pgmnemo._lesson_id(tenant, coalesce(target_project, project_id), target)];
BEGIN
    DELETE FROM pgmnemo.lesson_edge e
     WHERE e.tenant_id = tenant AND e.source_id = ends[1] AND e.target_id = ends[2] AND e.kind = unlink_lessons.kind;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink_lessons IS 'takes one edge away, for good; returns whether there was one';
