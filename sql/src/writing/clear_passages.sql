-- Makes room for _write_passages: takes away what the set gives anew for these lessons.
CREATE FUNCTION pgmnemo._clear_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pgmnemo.passage p
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE l.id = ANY (ids) AND p.tenant_id = tenant AND p.lesson_id = l.id
       AND (p.number = 0 OR i.passages IS NOT NULL)
$$;
