CREATE FUNCTION pgmnemo.list_settings()
RETURNS TABLE (name text, value text, initial text, range text, meaning text, warning text)
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'pgmnemo.' || c.name, v.value, c.initial, pgmnemo._setting_range(c.kind, c.low, c.high, c.choices),
           c.meaning,
           CASE WHEN NOT pgmnemo._setting_valid(v.value, c.kind, c.low, c.high, c.choices)
                THEN 'value out of range: every use of it is an error' END
      FROM pgmnemo._setting_catalogue() c
     CROSS JOIN LATERAL (
            SELECT coalesce(nullif(current_setting('pgmnemo.' || c.name, true), ''), c.initial)) AS v (value)
    UNION ALL
    SELECT DISTINCT s.name, s.value, NULL, NULL, NULL,
           CASE s.name WHEN 'pgmnemo.exact_scan_limit'
                       THEN 'pgmnemo.hnsw_min_vectors before 1.0.0: it does nothing, set that'
                       ELSE 'unknown setting: it does nothing' END
      FROM pgmnemo._stored_settings() s
     WHERE s.name LIKE 'pgmnemo.%'
       AND NOT EXISTS (SELECT FROM pgmnemo._setting_catalogue() c WHERE s.name = 'pgmnemo.' || c.name)
$$;

COMMENT ON FUNCTION pgmnemo.list_settings() IS 'every setting with value in force, default, range and meaning; and, as warnings, values out of range and names beginning with pgmnemo. that are none of ours, if they are kept for the role, for the database or (seen by superusers) in a configuration file';
