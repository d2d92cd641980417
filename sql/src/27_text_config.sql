-- The text search configuration in force, as it is for a session whose other settings may be wrong.
CREATE FUNCTION pgmnemo._text_config()
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(nullif(current_setting('pgmnemo.text_config', true), ''),
                           (SELECT c.initial FROM pgmnemo._setting_catalogue() c WHERE c.name = 'text_config'));
BEGIN
    IF NOT pg_input_is_valid(asked, 'regconfig') THEN
        RAISE EXCEPTION 'pgmnemo.text_config is %, but must be a text search configuration', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT cfgname FROM pg_ts_config lists them; one outside pg_catalog needs its schema.';
    END IF;
    RETURN asked::regconfig;
END
$$;
