-- Return passages that differ from what the verbs write, with their right values.
CREATE FUNCTION pgmnemo._wrong_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector,
               lexemes_differ boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, p.lexemes <> f.fresh
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (SELECT pgmnemo._config(l.text_config)) AS c (config)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN c.config IS NULL THEN p.lexemes ELSE pgmnemo._lexemes(c.config, p.content) END
            OFFSET 0) AS f (fresh)
     WHERE p.tenant_id = tenant AND (p.project_id, p.lexemes) IS DISTINCT FROM (l.project_id, f.fresh)
$$;
