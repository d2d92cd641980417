-- Replace characters by their equivalents: digits of other scripts by ASCII's, katakana by hiragana.
CREATE FUNCTION pgmnemo._equivalent_characters(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    zeros constant integer[] := '{1632, 1776, 1984, 2406, 2534, 2662, 2790, 2918, 3046, 3174, 3302, 3430, 3664, 3792,'
                                ' 3872, 4160, 6112}';
    found integer;
BEGIN
    IF words ~ ('[\u0660-\u0669\u06F0-\u06F9\u07C0-\u07C9\u0966-\u096F\u09E6-\u09EF\u0A66-\u0A6F\u0AE6-\u0AEF'
                '\u0B66-\u0B6F\u0BE6-\u0BEF\u0C66-\u0C6F\u0CE6-\u0CEF\u0D66-\u0D6F\u0E50-\u0E59\u0ED0-\u0ED9'
                '\u0F20-\u0F29\u1040-\u1049\u17E0-\u17E9]') THEN
        FOREACH found IN ARRAY zeros LOOP
            words := translate(words, (SELECT string_agg(chr(found + n), '' ORDER BY n) FROM generate_series(0, 9) n),
                               '0123456789');
        END LOOP;
    END IF;
    IF words ~ '[\u30A1-\u30F6]' THEN
        words := translate(words, (SELECT string_agg(chr(12449 + n), '' ORDER BY n) FROM generate_series(0, 85) n),
                           (SELECT string_agg(chr(12353 + n), '' ORDER BY n) FROM generate_series(0, 85) n));
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._equivalent_characters(text) IS 'a text in UTF8 with ASCII digits for those of other scripts, and hiragana for katakana';
