-- A text before a configuration cuts it, the same for every language. Most texts pass four cheap tests. The parser
-- takes the square of a long run without blanks, and of unclosed comments, so both are broken up: runs of thousands
-- of characters before their parts are looked for, which takes its time too.
CREATE FUNCTION pgmnemo._prepared(words text)
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
        words := pgmnemo._cut_runs(words, 1000);
    END IF;
    -- of a text that is longer the vector of lexemes could become longer than one can be
    IF octet_length(words) <= 250000
       AND words ~ ('[0-9A-Za-z\u00C0-\u1FFF][_./@=#+,&][0-9A-Za-z\u00C0-\u1FFF]|'
                     '[0-9][A-Za-z-]|[A-Za-z-][0-9]|[a-z][A-Z]|[0-9A-Z][''\u2019][0-9A-Z]|[A-Za-z](\+\+|#)') THEN
        parts := pgmnemo._token_parts(words);
    END IF;
    IF octet_length(words) <= 250000 AND words ~ ('[0-9][A-Za-z]{0,4}[ ().:/-]{1,3}[A-Za-z]{0,4}[0-9(]|'
                                                  '[0-9A-Fa-f]{8}') THEN
        parts := concat_ws(' ', parts, pgmnemo._codes(words));
    END IF;
    words := concat_ws(E'\n', words, parts);
    IF long OR parts ~ '\S{250}' THEN
        words := pgmnemo._cut_runs(words, 250);
    END IF;
    IF octet_length(words) > 250 THEN
        words := replace(words, '<!', ' ');
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._prepared(text) IS 'a text as it goes to the parser: pgmnemo._plain_text, then pgmnemo._token_parts and pgmnemo._codes behind it, and runs of more than 250 characters without a blank in pieces of 50';
