-- With its two siblings keeps postings true to lessons, whichever statement wrote them.
CREATE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id)) FROM written w GROUP BY w.tenant_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
