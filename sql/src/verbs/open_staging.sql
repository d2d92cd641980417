-- Create the caller's staging table. No other role can read it, and it ends with the transaction, so that a pooled
-- session leaves nothing to its next client. Its comment names its tenant.
CREATE FUNCTION pgmnemo.open_staging(tenant uuid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NOT NULL THEN
        DROP TABLE pg_temp.lesson_staging;
    END IF;
    CREATE TEMPORARY TABLE lesson_staging ON COMMIT DROP AS SELECT (NULL::pgmnemo.lesson_input).* LIMIT 0;
    EXECUTE format('COMMENT ON TABLE pg_temp.lesson_staging IS %L', coalesce(tenant, pgmnemo._session_tenant()));
END
$$;

COMMENT ON FUNCTION pgmnemo.open_staging IS 'makes, for this transaction, role and tenant (NULL: the session''s), the temporary table lesson_staging, whose columns are those of pgmnemo.lesson_input: COPY a large set into it and call pgmnemo.store_staged()';
