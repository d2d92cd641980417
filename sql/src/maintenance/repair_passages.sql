CREATE FUNCTION pgmnemo._repair_passages(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE pgmnemo.passage p
       SET project_id = u.in_project, lexemes = u.fresh
      FROM pgmnemo._wrong_passages(tenant) u
     WHERE p.tenant_id = tenant AND p.lesson_id = u.lesson_id AND p.number = u.number
$$;
