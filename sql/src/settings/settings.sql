-- Return every setting, typed. The first invalid setting is an error that names its range. PostgreSQL cannot check a
-- custom setting when it is SET, so each use checks. Most settings have their default, which costs little to check.
CREATE FUNCTION pgmnemo._settings()
RETURNS pgmnemo.settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed jsonb;
    valid boolean;
    wrong record;
BEGIN
    SELECT jsonb_object_agg(c.name, g.value),
           bool_and(pgmnemo._setting_valid(g.value, c.kind, c.low, c.high, c.choices))
      INTO changed, valid
      FROM pgmnemo._setting_catalogue() c
     CROSS JOIN LATERAL (SELECT nullif(current_setting('pgmnemo.' || c.name, true), '') OFFSET 0) AS g (value)
     WHERE g.value <> c.initial;
    IF changed IS NULL THEN
        RETURN pgmnemo._initial_settings();
    ELSIF valid THEN
        RETURN jsonb_populate_record(pgmnemo._initial_settings(), changed);
    END IF;
    SELECT c.* INTO wrong
      FROM pgmnemo._setting_catalogue() c
     WHERE changed ? c.name
       AND NOT pgmnemo._setting_valid(changed ->> c.name, c.kind, c.low, c.high, c.choices)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'pgmnemo.% is %, but must be %', wrong.name, quote_literal(changed ->> wrong.name),
              pgmnemo._setting_range(wrong.kind, wrong.low, wrong.high, wrong.choices)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('SET pgmnemo.%s to a value in that range, or RESET it.', wrong.name);
    END IF;
    RETURN jsonb_populate_record(pgmnemo._initial_settings(), changed);
END
$$;
