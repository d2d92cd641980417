-- With its two siblings keeps postings and entries true to lessons, whichever statement wrote them.
CREATE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id)) FROM written w GROUP BY w.tenant_id;
    INSERT INTO pgmnemo.lesson_entry
    SELECT w.tenant_id, e.entry, w.id FROM written w CROSS JOIN LATERAL pgmnemo._entries(w.metadata) AS e (entry)
     WHERE w.metadata <> '{}';
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
