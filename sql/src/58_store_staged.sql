-- In key order, like any set, and with one batch at a time in memory.
CREATE FUNCTION pgmnemo.store_staged(batch_size integer DEFAULT 500)
RETURNS TABLE (outcome text, lessons bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    one pgmnemo.lesson_input;
    batch pgmnemo.lesson_input[] := '{}';
    counts jsonb := '{}';
    rest bigint;
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NULL THEN
        RAISE EXCEPTION 'there is no staging table in this session'
        USING ERRCODE = 'undefined_table', HINT = 'Call pgmnemo.open_staging() and COPY into lesson_staging first.';
    ELSIF batch_size IS NULL OR batch_size NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'batch_size is %, but must be from 1 to 10000', coalesce(batch_size::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    rest := (SELECT count(*) FROM pg_temp.lesson_staging);
    FOR one IN SELECT i.* FROM pg_temp.lesson_staging i ORDER BY i.project_id, i.external_id COLLATE "C" LOOP
        batch := batch || one;
        rest := rest - 1;
        IF cardinality(batch) = batch_size OR rest = 0 THEN
            SELECT counts || jsonb_object_agg(t.outcome, t.n + coalesce((counts ->> t.outcome)::bigint, 0)) INTO counts
              FROM (SELECT o.outcome, count(*) AS n FROM pgmnemo.store_lessons(batch) o GROUP BY 1) t;
            batch := '{}';
        END IF;
    END LOOP;
    TRUNCATE pg_temp.lesson_staging;
    RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c ORDER BY c.key COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.store_staged(integer) IS 'stores what was copied into lesson_staging, as store_lessons does, batch by batch (1 to 10,000 lessons) in one transaction; empties the table; returns how many lessons had each outcome';
