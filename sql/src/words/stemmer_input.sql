-- Return a text of pgmnemo._parser_input as a configuration's stemmer reads it: in lower case under every locale,
-- without accents where the stemmer knows none, and spelt so that every PostgreSQL gives the same stem.
CREATE FUNCTION pgmnemo._stemmer_input(config regconfig, prepared text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(prepared) <> length(prepared) OR getdatabaseencoding() <> 'UTF8' OR lower('I') <> 'i' THEN
        prepared := pgmnemo._lower_case(config, prepared);
    END IF;
    IF octet_length(prepared) <> length(prepared)
       AND config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig) THEN
        prepared := pgmnemo._without_accents(prepared);
    END IF;
    IF config <> 'pg_catalog.english'::regconfig OR current_setting('server_version_num')::integer < 180000 THEN
        prepared := pgmnemo._even_stems(config, prepared);
    END IF;
    RETURN prepared;
END
$$;
