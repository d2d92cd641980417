-- Prepare a text for parsing, the same for every language. Most texts pass four cheap tests. The parser takes the
-- square of a long run without blanks, and of unclosed comments, so both are broken up: runs of thousands of characters
-- before the search for their parts, which takes time as well.
CREATE FUNCTION pgmnemo._parser_input(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts text;
    long boolean;
BEGIN
    IF octet_length(words) <> length(words) THEN
        words := pgmnemo._plain_text(words);
    END IF;
    long := octet_length(words) > 250 AND words ~ '\S{250}';
    IF long AND words ~ '(?:\S{250}){4}' THEN
        words := pgmnemo._split_long_runs(words, 1000);
    END IF;
    -- of a text that is longer the vector of lexemes could become longer than one can be
    IF octet_length(words) <= 250000
       AND words ~ ('[0-9A-Za-z\u00C0-\u1FFF][_./@=#+,&][0-9A-Za-z\u00C0-\u1FFF]|'
                     '[0-9][A-Za-z-]|[A-Za-z-][0-9]|[a-z][A-Z]|[0-9A-Z][''\u2019][0-9A-Z]|[A-Za-z](\+\+|#)') THEN
        parts := pgmnemo._token_parts(words);
    END IF;
    IF octet_length(words) <= 250000 AND words ~ ('[0-9][A-Za-z]{0,4}[ ().:/-]{1,3}[A-Za-z]{0,4}[0-9(]|'
                                                  '[0-9A-Fa-f]{8}') THEN
        parts := concat_ws(' ', parts, pgmnemo._code_forms(words));
    END IF;
    words := concat_ws(E'\n', words, parts);
    -- what is no letter: under LC_CTYPE C, and under a builtin locale, the parser takes all beyond ASCII for letters
    IF octet_length(words) <> length(words) AND getdatabaseencoding() = 'UTF8' THEN
        words := regexp_replace(words, '[\u00A1-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7'
                                       '\u00F7\u037E\u0387\u055A-\u055F\u0589\u058A\u05BE\u05C0\u05C3\u05C6\u05F3\u05F4'
                                       '\u060C\u060D\u061B\u061D-\u061F\u066A-\u066D\u06D4\u0700-\u070D\u0964\u0965'
                                       '\u0E5A\u0E5B\u0F01-\u0F17\u104A-\u104F\u1360-\u1368\u17D4-\u17D6\u17D8-\u17DB'
                                       '\u1800-\u180A\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2190-\u23FF\u2500-\u2BFF'
                                       '\u2E00-\u2E2E\u2E30-\u2E5D\u3001-\u3004\u3008-\u3020\u3030\u303D'
                                       '\U0001F000-\U0001F0FF\U0001F1E6-\U0001FAFF]', ' ', 'g');
    END IF;
    IF (long OR parts ~ '\S{250}') AND words ~ '\S{250}' THEN
        words := pgmnemo._split_long_runs(words, 250);
    END IF;
    IF octet_length(words) > 250 THEN
        words := replace(words, '<!', ' ');
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._parser_input(text) IS 'a text as it goes to the parser: pgmnemo._plain_text, then pgmnemo._token_parts and pgmnemo._code_forms behind it, and runs of more than 250 characters without a blank in pieces of 50';
