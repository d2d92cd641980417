-- The configuration of a text that is written in this language; NULL or auto: the session's, else the text's own.
CREATE FUNCTION pgmnemo._written_config(language text, words text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config regconfig := CASE WHEN language IS NULL THEN pgmnemo._text_config()
                             WHEN language <> 'auto'
                             THEN pgmnemo._config(nullif(pgmnemo._language_config(language), 'auto')) END;
BEGIN
    RETURN coalesce(config, pgmnemo._recognized_config(words, 'pg_catalog.english'));
END
$$;
