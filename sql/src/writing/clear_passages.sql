-- Delete, for _write_passages, what these lessons replace, the fields in `clear`, and the vector of a changed text.
-- Passages of such a text are deleted with it (pgmnemo._lesson_after_update).
CREATE FUNCTION pgmnemo._clear_passages(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pgmnemo.passage p
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND (i.passages IS NOT NULL OR 'passages' = ANY (clear));
    DELETE FROM pgmnemo.lesson_vector v
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE v.tenant_id = tenant AND v.lesson_id = l.id
       AND CASE WHEN v.number = 0
                THEN i.embedding IS NOT NULL OR 'embedding' = ANY (clear) OR l.content <> i.content
                ELSE i.passages IS NOT NULL OR 'passages' = ANY (clear) END
$$;
