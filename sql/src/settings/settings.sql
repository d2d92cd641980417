-- Every setting, typed; the first that cannot be used is an error that names its range. PostgreSQL cannot check a
-- custom setting when it is SET, so each use checks.
CREATE FUNCTION pgmnemo._settings()
RETURNS pgmnemo.settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    effective jsonb;
    wrong record;
BEGIN
    SELECT jsonb_object_agg(c.name, coalesce(nullif(current_setting('pgmnemo.' || c.name, true), ''), c.initial))
      INTO effective
      FROM pgmnemo._setting_catalogue() c;
    SELECT c.* INTO wrong
      FROM pgmnemo._setting_catalogue() c
     WHERE c.name <> 'tenant_id' AND effective ->> c.name <> c.initial
       AND NOT pgmnemo._setting_valid(effective ->> c.name, c.kind, c.low, c.high, c.choices)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'pgmnemo.% is %, but must be %', wrong.name, quote_literal(effective ->> wrong.name),
              pgmnemo._setting_range(wrong.kind, wrong.low, wrong.high, wrong.choices)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('SET pgmnemo.%s to a value in that range, or RESET it.', wrong.name);
    END IF;
    RETURN jsonb_populate_record(NULL::pgmnemo.settings, effective);
END
$$;
