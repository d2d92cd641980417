-- Store rows in the order of the copy, with one batch at a time in memory. Two sessions that load some of the same keys
-- in different orders, in more than one batch each, may deadlock; the loser repeats its load. The call reads the table
-- with the caller's rights: a substitute for the table must not run with more.
CREATE FUNCTION pgmnemo.store_staged(batch_size integer DEFAULT 5000)
RETURNS TABLE (outcome text, lessons bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    most constant integer := 10000;
    most_bytes constant bigint := 20000000;  -- of a batch
    bytes bigint := 0;
    tenant uuid;
    one pgmnemo.lesson_input;
    batch pgmnemo.lesson_input[] := '{}';
    counts jsonb := '{}';
    rest bigint;
BEGIN
    tenant := (SELECT d.description FROM pg_class c
                 JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
                WHERE c.oid = to_regclass('pg_temp.lesson_staging')
                  AND c.relowner = to_regrole(quote_ident(current_user))
                  AND pg_input_is_valid(d.description, 'uuid'));
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'role % has no staging table in this transaction', quote_ident(current_user)
        USING ERRCODE = 'undefined_table',
              HINT = 'BEGIN, call pgmnemo.open_staging() and COPY into lesson_staging first: it ends with the '
                     'transaction.';
    ELSIF batch_size IS NULL OR batch_size NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'batch_size is %, but must be from 1 to %', coalesce(batch_size::text, 'NULL'), most
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    rest := (SELECT count(*) FROM pg_temp.lesson_staging);
    FOR one IN SELECT i.* FROM pg_temp.lesson_staging i ORDER BY i.ctid LOOP
        batch := batch || one;
        rest := rest - 1;
        bytes := bytes + pg_column_size(one);
        IF cardinality(batch) = batch_size OR bytes > most_bytes OR rest = 0 THEN
            SELECT counts || jsonb_object_agg(t.outcome, t.n + coalesce((counts ->> t.outcome)::bigint, 0)) INTO counts
              FROM (SELECT o.outcome, count(*) AS n FROM pgmnemo.store_set(tenant, batch) o GROUP BY 1) t;
            batch := '{}';
            bytes := 0;
        END IF;
    END LOOP;
    TRUNCATE pg_temp.lesson_staging;
    RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c ORDER BY c.key COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.store_staged IS 'stores what was copied into lesson_staging for the tenant that open_staging was called for, as store_set does, batch by batch (1 to 10,000 lessons, 20,000,000 bytes) in one transaction; empties the table; returns how many lessons had each outcome';
