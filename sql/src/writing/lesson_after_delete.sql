-- Remove postings and entries of deleted lessons, unless pgmnemo.forget_all deleted all at once.
CREATE FUNCTION pgmnemo._lesson_after_delete()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(g.id), array_agg(g.lexemes),
                                     array_agg(g.token_count))
       FROM gone g
      WHERE g.active AND (EXISTS (SELECT FROM pgmnemo.posting p
                                   WHERE p.tenant_id = g.tenant_id AND p.lexeme = '' AND p.project_id = g.project_id)
                          OR EXISTS (SELECT FROM pgmnemo.segment_project j
                                      WHERE j.tenant_id = g.tenant_id AND j.project_id = g.project_id))
      GROUP BY g.tenant_id, g.project_id;
    IF EXISTS (SELECT FROM pgmnemo.lesson_entry e WHERE e.tenant_id = (SELECT g.tenant_id FROM gone g LIMIT 1)) THEN
        DELETE FROM pgmnemo.lesson_entry e
         USING gone g CROSS JOIN LATERAL pgmnemo._metadata_entries(g.metadata) AS was (entry)
         WHERE g.metadata <> '{}' AND e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_delete AFTER DELETE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_delete();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_delete;
