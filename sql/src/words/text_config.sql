-- Return the text search configuration that the session sets for its writes; NULL: auto. It also serves sessions with
-- other settings that are invalid.
CREATE FUNCTION pgmnemo._text_config()
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(nullif(current_setting('pgmnemo.text_config', true), ''), 'auto');
    config regconfig;
BEGIN
    IF asked = 'auto' THEN
        RETURN NULL;
    END IF;
    config := pgmnemo._config(asked);
    IF config IS NULL THEN
        RAISE EXCEPTION 'pgmnemo.text_config is %, but must be a text search configuration', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT cfgname FROM pg_ts_config lists them, and auto goes by the text; one outside pg_catalog '
                     'needs its schema, a temporary one does not do.';
    END IF;
    RETURN config;
END
$$;
