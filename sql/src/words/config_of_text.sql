-- Return the configuration of a text written in a language. NULL: the session's, else that of `usual`, the tenant's
-- language: a configuration, auto, or auto: and the configuration of a text that is not recognized.
CREATE FUNCTION pgmnemo._config_of_text(language text, words text, usual text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    recognized constant boolean := usual = 'auto' OR starts_with(usual, 'auto:');
    own constant regconfig := CASE WHEN usual <> 'auto' THEN pgmnemo._config(regexp_replace(usual, '^auto:', '')) END;
    config regconfig;
BEGIN
    IF language IS NULL THEN
        config := coalesce(pgmnemo._text_config(), CASE WHEN NOT recognized THEN own END);
    ELSIF language <> 'auto' THEN
        config := pgmnemo._config(nullif(pgmnemo._language_config(language), 'auto'));
    END IF;
    RETURN coalesce(config, pgmnemo._recognized_config(words, coalesce(own, 'pg_catalog.english')));
END
$$;
