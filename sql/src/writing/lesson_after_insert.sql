-- Update postings and entries after any statement that inserts lessons; triggers for update and delete do the rest.
CREATE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
    described boolean := false;
BEGIN
    FOR one IN
        SELECT w.tenant_id, array_agg(w.id) FILTER (WHERE w.active) AS ids, bool_or(w.metadata <> '{}') AS described
          FROM written w GROUP BY w.tenant_id
    LOOP
        IF cardinality(one.ids) < pgmnemo._segment_size() / 4 THEN
            PERFORM pgmnemo._add_postings(one.tenant_id, one.ids);
        ELSIF one.ids IS NOT NULL THEN
            PERFORM pgmnemo._write_segments(one.tenant_id, one.ids, pgmnemo._segment_size(),
                                            pgmnemo._segment_size() / 4);
        END IF;
        described := described OR one.described;
    END LOOP;
    IF described THEN
        INSERT INTO pgmnemo.lesson_entry
        SELECT w.tenant_id, e.entry, w.id FROM written w
         CROSS JOIN LATERAL pgmnemo._metadata_entries(w.metadata) AS e (entry)
         WHERE w.metadata <> '{}';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_insert;
