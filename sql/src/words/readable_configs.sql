-- Return the configurations with stop words in the encoding of the database: in LATIN1 those of Hungarian fail.
CREATE FUNCTION pgmnemo._readable_configs(configs regconfig[])
RETURNS regconfig[]
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    readable regconfig[] := '{}';
    config regconfig;
BEGIN
    FOREACH config IN ARRAY configs LOOP
        BEGIN
            PERFORM to_tsvector(config, 'a');
            readable := readable || config;
        EXCEPTION WHEN untranslatable_character THEN
            NULL;
        END;
    END LOOP;
    RETURN readable;
END
$$;

COMMENT ON FUNCTION pgmnemo._readable_configs(regconfig[]) IS 'the text search configurations that the encoding of the database can read, for databases of another encoding than UTF8';
