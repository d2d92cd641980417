-- Check the index of metadata against the lessons.
CREATE FUNCTION pgmnemo._entry_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH due AS (
        SELECT l.project_id, l.id, e.entry
          FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._metadata_entries(l.metadata) AS e (entry)
         WHERE l.tenant_id = tenant AND l.metadata <> '{}'
    ), held AS (
        SELECT h.lesson_id AS id, h.entry FROM pgmnemo.lesson_entry h WHERE h.tenant_id = tenant
    )
    SELECT CASE WHEN h.id IS NULL THEN 'entry missing' ELSE 'entry surplus' END, d.project_id,
           coalesce(d.id, h.id), coalesce(d.entry, h.entry)::text, NULL, NULL
      FROM due d FULL JOIN held h ON h.id = d.id AND h.entry = d.entry
     WHERE d.id IS NULL OR h.id IS NULL
$$;
