-- Return a text as input for the parser of text search, for any language. NFKC; soft hyphens, zero-width characters,
-- marks of direction and optional marks (vowels of Arabic and Hebrew, the nukta) are removed; runs of scripts that put
-- no blanks between words become overlapping pairs of characters, each with its combining marks (Han, kana, Hangul,
-- Thai, Lao, Khmer, Myanmar, Tai, Yi, Javanese). A Han character may be a word, so each also becomes a word. In a
-- database of another encoding than UTF8 the text stays as it is.
CREATE FUNCTION pgmnemo._plain_text(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    base  constant text := '\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46\u0E81-\u0EB0\u0EB2\u0EB3\u0EBD-\u0EC6\u0EDC-\u0EDF'
                           '\u1000-\u102A\u103F\u1050-\u1055\u105A-\u105D\u1061\u1065\u1066\u106E-\u1070\u1075-\u1081'
                           '\u108E\u1780-\u17B3\u1950-\u19DF\u1A20-\u1A54\uA984-\uA9B2\uA9E0-\uA9E4\uA9E6-\uA9EF'
                           '\uAA60-\uAA76\uAA80-\uAAAF\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096'
                           '\u309D-\u309F\u30A1-\u30FA\u30FC-\u312F\u31A0-\u31BF\u31F0-\u31FF\u3400-\u4DBF'
                           '\u4E00-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U000323AF';
    mark  constant text := '\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECE\u102B-\u103E'
                           '\u1056-\u1059\u105E-\u1060\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F'
                           '\u109A-\u109D\u17B4-\u17D3\u17DD\u1A55-\u1A7F\uA9B3-\uA9C0\u3099\u309A';
    han   constant text := '\u2E80-\u2FDF\u3005-\u3007\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U000323AF';
    one   constant text := '[' || base || '][' || mark || ']*';
    -- a pair, and the single character after the last pair of a run, which the pairs that begin one later end with
    pair  constant text := '(' || one || one || ')(?:' || one || '(?![' || base || mark || ']))?|';
    shifted text;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN words;
    ELSIF words IS NOT NFKC NORMALIZED THEN
        -- blanks within an amount, and the sign of a trade mark, which would become letters of the word before it
        words := regexp_replace(words, '([0-9])[\u00A0\u2009\u202F](?=[0-9]{3})', '\1,', 'g');
        words := normalize(regexp_replace(words, '[\u2120\u2122]', ' ', 'g'), NFKC);
    END IF;
    words := regexp_replace(words, '[\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                   '\uFE00-\uFE0F\uFEFF\u05B0-\u05BD\u0640\u064B-\u065F\u0670'
                                   '\u093C\u09BC\u0A3C\u0ABC\u0B3C]', '', 'g');
    words := regexp_replace(words, '[\u2010-\u2012\u2212]', '-', 'g');
    words := pgmnemo._equivalent_characters(words);
    IF words ~ '[\u2600-\u27BF\U0001F000-\U0001FAFF]' THEN
        words := words || ' ' || pgmnemo._emoji_words(words);
    END IF;
    IF words !~ ('[' || base || ']') THEN
        RETURN words;
    END IF;
    shifted := regexp_replace(words, '[^' || base || mark || ']+', ' ', 'g');
    shifted := regexp_replace(shifted, '(?<![' || base || mark || '])' || one, '', 'g');
    RETURN regexp_replace(words, pair || '(' || one || ')', ' \1\2 ', 'g')
           || ' ' || regexp_replace(shifted, pair || one, ' \1 ', 'g')
           || ' ' || regexp_replace(regexp_replace(words, '[^' || han || ']+', ' ', 'g'), '(\S)', '\1 ', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._plain_text(text) IS 'a text for the parser of text search: NFKC, without invisible characters, runs of scripts without blanks cut into overlapping pairs of characters';
