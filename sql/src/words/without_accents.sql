-- Remove the accents of Latin letters, because people write cafe for the word with an accent. Letters of other
-- scripts keep their marks. The argument may be a tsvector as text: parsing it joins lexemes that become equal.
CREATE FUNCTION pgmnemo._without_accents(lexemes text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' OR lexemes !~ '[\u00C0-\u024F\u1E00-\u1EFF]' THEN
        RETURN lexemes;
    END IF;
    lexemes := normalize(regexp_replace(normalize(lexemes, NFD), '([A-Za-z])[\u0300-\u036F]+', '\1', 'g'), NFC);
    lexemes := regexp_replace(regexp_replace(lexemes, '\u00DF', 'ss', 'g'), '[\u00E6\u00C6]', 'ae', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0153\u0152]', 'oe', 'g'), '[\u00F8\u00D8]', 'o', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0142\u0141]', 'l', 'g'), '[\u0111\u0110]', 'd', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u00FE\u00DE]', 'th', 'g'), '[\u00F0\u00D0]', 'd', 'g');
    RETURN regexp_replace(lexemes, '\u0131', 'i', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._without_accents(text) IS 'lexemes without the accents of Latin letters; in a database of another encoding than UTF8 as they are';
