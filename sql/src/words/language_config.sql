-- Return the text search configuration of a language: `auto` unchanged, a configuration by its own name, a code of ISO
-- 639 (de, pt-BR) by PostgreSQL's configuration, and any other code of two or three letters, which has no stemmer in
-- PostgreSQL (zh, ja, th, ko, pl), as simple. NULL: no such language.
CREATE FUNCTION pgmnemo._language_config(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    code constant text := lower(split_part(replace(language, '_', '-'), '-', 1) COLLATE "C");
    known constant text := '{"ar":"arabic","hy":"armenian","eu":"basque","ca":"catalan","da":"danish","nl":"dutch",'
        '"en":"english","fi":"finnish","fr":"french","de":"german","el":"greek","hi":"hindi","hu":"hungarian",'
        '"id":"indonesian","ga":"irish","it":"italian","lt":"lithuanian","ne":"nepali","no":"norwegian",'
        '"nb":"norwegian","nn":"norwegian","pt":"portuguese","ro":"romanian","ru":"russian","sr":"serbian",'
        '"es":"spanish","sv":"swedish","ta":"tamil","tr":"turkish","yi":"yiddish"}';
BEGIN
    IF language = 'auto' THEN
        RETURN 'auto';
    ELSIF pgmnemo._config(language) IS NOT NULL THEN
        RETURN pgmnemo._config(language);
    ELSIF language ~ '^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$' THEN
        RETURN coalesce(known::jsonb ->> code, 'simple');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION pgmnemo._language_config(text) IS 'the text search configuration of a language: auto, a configuration''s name, or a code of ISO 639; a code without a stemmer is simple; NULL: no such language';
