-- Spell words so that the stemmers of every supported PostgreSQL give the same stem: those of 18 handle more endings
-- (german -erin, -eln, -system, ae, oe and ue for umlauts; swedish -ost; romanian letters with a comma below;
-- english added, erred and few more, which 18 stems well, so that 16 and 17 get the form with -s).
CREATE FUNCTION pgmnemo._even_stems(config regconfig, words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF config = 'pg_catalog.english'::regconfig THEN
        IF current_setting('server_version_num')::integer < 180000 THEN
            words := regexp_replace(words, '\m(add|ebb|egg|err|off)(?:ed|ings?)\M', '\1s', 'gi');
        END IF;
    ELSIF config = 'pg_catalog.german'::regconfig THEN
        words := replace(replace(replace(lower(words), 'system', 'syst'), 'ae', 'a'), 'oe', 'o');
        words := regexp_replace(words, '(?<![aeiouq])ue', 'u', 'g');
        words := regexp_replace(regexp_replace(words, 'erin(?:nen)?\M', 'er', 'g'), 'lns?\M', 'l', 'g');
    ELSIF config = 'pg_catalog.swedish'::regconfig THEN
        words := regexp_replace(words, '(\u00F6s)t', '\1', 'gi');
    ELSIF config = 'pg_catalog.italian'::regconfig THEN
        words := regexp_replace(words, '\mdivano\M', 'divan', 'gi');
    ELSIF config = 'pg_catalog.romanian'::regconfig THEN
        words := regexp_replace(words, '[\u0218\u0219]', chr(351), 'g');
        words := regexp_replace(words, '[\u021A\u021B]', chr(355), 'g');
    END IF;
    RETURN words;
END
$$;
