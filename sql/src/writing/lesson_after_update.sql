-- Skip rows that match their postings; remove a changed row in its old state and add it in its new state. Passages and
-- vectors follow their lesson into another project; a change of text deletes those of passages, and a change of
-- language parses passages again. A moved vector leaves the HNSW index and waits for the next merge. The two states are
-- compared as sets: a join would be planned once, for the first statement's row, and take the square of the next's.
CREATE FUNCTION pgmnemo._lesson_after_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(g.id), array_agg(g.lexemes),
                                     array_agg(g.token_count))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written) g
      WHERE g.active
      GROUP BY g.tenant_id, g.project_id;
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone) w
      WHERE w.active
      GROUP BY w.tenant_id;
    DELETE FROM pgmnemo.lesson_entry e
     USING (SELECT tenant_id, id, metadata FROM gone EXCEPT SELECT tenant_id, id, metadata FROM written) g
     CROSS JOIN LATERAL pgmnemo._metadata_entries(g.metadata) AS was (entry)
     WHERE e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    INSERT INTO pgmnemo.lesson_entry
    SELECT w.tenant_id, e.entry, w.id
      FROM (SELECT tenant_id, id, metadata FROM written EXCEPT SELECT tenant_id, id, metadata FROM gone) w
     CROSS JOIN LATERAL pgmnemo._metadata_entries(w.metadata) AS e (entry)
     WHERE w.metadata <> '{}';
    WITH other AS MATERIALIZED (
        SELECT tenant_id, id, content FROM written EXCEPT SELECT tenant_id, id, content FROM gone
    ), texts AS (
        DELETE FROM pgmnemo.passage p USING other o WHERE p.tenant_id = o.tenant_id AND p.lesson_id = o.id
    )
    DELETE FROM pgmnemo.lesson_vector v
     USING other o WHERE v.tenant_id = o.tenant_id AND v.lesson_id = o.id AND v.number > 0;
    UPDATE pgmnemo.passage p SET lexemes = pgmnemo._lexemes(pgmnemo._config(w.text_config), p.content)
      FROM (SELECT tenant_id, id, text_config FROM written EXCEPT SELECT tenant_id, id, text_config FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.passage p SET project_id = w.project_id
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.lesson_vector v SET project_id = w.project_id, indexed = false
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE v.tenant_id = w.tenant_id AND v.lesson_id = w.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_update AFTER UPDATE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_update();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_update;
