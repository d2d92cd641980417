-- Return other search forms of compound tokens, as words to add to a text: the parts of hosts, addresses, paths,
-- parameters of URLs, identifiers (snake, kebab and camel case) and tickets; such a token without its separators
-- (PROJ-137 as PROJ137, get_name as getname); amounts without theirs (1,250.00 as 1250). '' for a text without any.
CREATE FUNCTION pgmnemo._token_parts(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter constant text := '[0-9A-Za-z\u00C0-\u1FFF]';
    -- an amount with the marks behind it, or else a whole run of digits with such marks: the longer one is found
    amount constant text := '(?:([0-9]{1,3}(?:[,.''][0-9]{2,3})*[,.''][0-9]{3})([.,][0-9]{1,2})?'
                            '|([0-9]+)([.,][0-9]{1,2}))([.,'']*)|([.,'']*[0-9]+[.,'']+[0-9][0-9.,'']*)';
    amounts text;
    tokens  text;
    parts   text;
    joined  text;
BEGIN
    SELECT string_agg(concat_ws(' ', a.whole, translate(concat(m[1], m[3], m[4]), ',.''', '   '),
                                CASE WHEN m[2] ~ '[1-9]' THEN a.whole || translate(m[2], ',', '.') END), ' ')
      INTO amounts
      FROM regexp_matches(words, amount, 'g') AS m
     CROSS JOIN LATERAL (SELECT translate(coalesce(m[1], m[3]), ',.''', '')) AS a (whole)
     WHERE m[6] IS NULL;
    IF amounts IS NOT NULL THEN  -- each becomes a blank; a mark behind what is none goes
        words := regexp_replace(translate(words, E'\x01', ' '), amount, E'\\6\x01\\5', 'g');
        words := translate(regexp_replace(words, E'([0-9.,''])\x01', '\1', 'g'), E'\x01', ' ');
    END IF;
    SELECT string_agg(m[1], ' ') INTO tokens
      FROM regexp_matches(words,
                          '(' || letter || '+(?:(?:[-_./@:=&?#%+~,;|\\]+|[''\u2019](?=[A-Z]))' || letter || '+)*'
                          '(?:\+\+|#)?)|(?:[A-Z]?[a-z]+[.,:;?]?\s+)+', 'g') AS m
     WHERE m[1] ~ '[_./@=#+,&''\u2019]|[0-9][^0-9]|[^0-9][0-9]|[a-z][A-Z]';
    IF tokens IS NOT NULL THEN
        tokens := replace(regexp_replace(tokens, '#(?= |$)', 'sharp', 'g'), '++', 'plusplus');
        parts := regexp_replace(tokens, '[^0-9A-Za-z\u00C0-\u1FFF]+', ' ', 'g');
        parts := regexp_replace(parts, '([a-z]{2})(?=[A-Z][a-z])|([A-Z]{2})(?=[A-Z][a-z])', '\1\2 ', 'g');
        parts := regexp_replace(parts, '\m([^0-9 ]+)([0-9]+)\M|\m([0-9]+)([^0-9 ]+)\M', '\1\3 \2\4', 'g');
        joined := (SELECT string_agg(regexp_replace(m[1], '[^0-9A-Za-z\u00C0-\u1FFF]+', '', 'g'), ' ')
                     FROM regexp_matches(tokens, '(' || letter || '+(?:[-_.&''\u2019]+' || letter || '+)+)', 'g') AS m);
    END IF;
    RETURN concat_ws(' ', amounts, parts, joined);
END
$$;

COMMENT ON FUNCTION pgmnemo._token_parts(text) IS 'words to add to a text, so that its compound tokens are found by their parts, joined, and amounts without separators; linear in the text';
