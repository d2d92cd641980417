-- Return a time of a filter: a date, which begins in UTC, or a time of day with its offset. Other forms are errors,
-- because their meaning depends on the session's settings.
CREATE FUNCTION pgmnemo._filter_time(item text, given jsonb)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said text := CASE WHEN jsonb_typeof(given) = 'string' THEN left(given #>> '{}', 100) END;
BEGIN
    said := CASE WHEN said ~ '^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$' THEN said || 'T00:00:00Z'
                 WHEN said ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9](\.[0-9]+)?)?'
                              '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$') THEN said END;
    IF said IS NULL OR NOT pg_input_is_valid(said, 'timestamptz') THEN
        PERFORM pgmnemo._filter_error(quote_literal(item), 'must be a date or a time with its offset from UTC',
                                      'Write 2026-05-01, 2026-05-01T09:30:00Z or 2026-05-01T09:30:00+02:00.');
    END IF;
    RETURN said::timestamptz;
END
$$;
