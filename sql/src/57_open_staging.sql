-- The table is the session's own: no other role sees it, and it ends with the session.
CREATE FUNCTION pgmnemo.open_staging()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NOT NULL THEN
        TRUNCATE pg_temp.lesson_staging;
    ELSE
        CREATE TEMPORARY TABLE lesson_staging OF pgmnemo.lesson_input;
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo.open_staging() IS 'makes or empties the session''s temporary table lesson_staging, whose columns are those of pgmnemo.lesson_input: COPY a large set into it and call pgmnemo.store_staged()';
