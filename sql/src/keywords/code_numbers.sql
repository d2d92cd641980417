-- Return the number of the word that each lexeme of a question is a form of, with the forms of one code as one word:
-- a lexeme of letters and figures within a longer one with a figure (pgmnemo._code_forms). NULL: each is a word.
CREATE FUNCTION pgmnemo._code_numbers(lexemes text[], numbers integer[])
RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    beyond constant integer := 20000;  -- every position of a word
    codes text[];
BEGIN
    IF lexemes::text !~ '[0-9]' THEN
        RETURN numbers;
    END IF;
    codes := ARRAY(SELECT x FROM unnest(lexemes) x WHERE length(x) >= 5 AND x ~ '^[0-9a-z]*[0-9][0-9a-z]*$'
                    ORDER BY length(x) DESC, x COLLATE "C");
    IF codes = '{}' THEN
        RETURN numbers;
    END IF;
    RETURN ARRAY(SELECT coalesce(c.number, n.number)
                   FROM unnest(lexemes, coalesce(numbers, ARRAY(SELECT generate_subscripts(lexemes, 1))))
                        WITH ORDINALITY AS n (lexeme, number, place)
                   LEFT JOIN LATERAL (
                          SELECT beyond + c.place AS number
                            FROM unnest(codes) WITH ORDINALITY AS c (code, place)
                           WHERE n.lexeme ~ '^[0-9a-z]*[0-9][0-9a-z]*$' AND strpos(c.code, n.lexeme) > 0
                           ORDER BY c.place LIMIT 1) c ON true
                  ORDER BY n.place)::integer[];
END
$$;
