-- Return the text search configuration of a caller's language, or auto; raise an error for any other name.
CREATE FUNCTION pgmnemo._checked_language(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config constant text := pgmnemo._language_config(language);
BEGIN
    IF config IS NULL THEN
        RAISE EXCEPTION 'language is %, but must be auto, a text search configuration or a code of ISO 639',
              coalesce(quote_literal(left(language, 100)), 'NULL')
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SELECT cfgname FROM pg_ts_config lists the configurations.';
    END IF;
    RETURN config;
END
$$;
