-- Return the lexemes of any text: lesson, passage or question. A text with more different words than a tsvector holds
-- is parsed up to its first 80,000 characters. The forms leave the vector and return under their roots, so that a root
-- has as many positions as it and its forms had. Only the number of positions matters. Concatenation moves the second
-- vector behind the first, and positions end at 16,383: a text that could reach that position is rewritten whole
-- instead. A lexeme gets at most one position from each byte.
CREATE FUNCTION pgmnemo._lexemes(config regconfig, words text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text := pgmnemo._stemmer_input(config, pgmnemo._parser_input(words));
    accents boolean := octet_length(prepared) <> length(prepared)
                       AND config NOT IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig);
    cut tsvector;
    rest tsvector;
    moved tsvector;
    found text[];
    form text;
    rewritten text;
BEGIN
    IF octet_length(prepared) <= 250000 THEN
        cut := to_tsvector(config, prepared);
    ELSE
        BEGIN
            cut := to_tsvector(config, prepared);
        EXCEPTION WHEN program_limit_exceeded THEN
            cut := to_tsvector(config, left(prepared, 80000));  -- a vector of lexemes holds 1 MB
        END;
    END IF;
    IF words ~ '[a-z0-9,;] [A-Z][a-z]{1,4}\M|\m[A-Z]{2,5}\M' THEN
        cut := cut || pgmnemo._stop_word_names(config, words);
    END IF;
    IF cut = '' AND octet_length(prepared) <= 1000 THEN
        cut := to_tsvector('pg_catalog.simple', prepared);  -- a text of stop words has these
    END IF;
    IF accents THEN
        cut := pgmnemo._without_accents(cut::text)::tsvector;
    END IF;
    IF config <> 'pg_catalog.english'::regconfig THEN
        RETURN cut;
    END IF;
    moved := setweight(cut, 'A', pgmnemo._forms());
    rest := ts_filter(moved, '{d}');
    moved := ts_filter(moved, '{a}');
    found := tsvector_to_array(moved);
    IF found = '{}' THEN
        RETURN cut;
    ELSIF octet_length(words) > 8191 AND pgmnemo._last_position(cut) > 8191 THEN
        moved := cut;
        rest := '';
    END IF;
    -- a blank stands before each lexeme and never within one, and a quote within one is doubled
    rewritten := ' ' || setweight(moved, 'D')::text;
    FOREACH form IN ARRAY found LOOP
        rewritten := replace(rewritten, ' ''' || form || ''':', ' ''' || (pgmnemo._form_roots() ->> form) || ''':');
    END LOOP;
    RETURN rewritten::tsvector || rest;
END
$$;

COMMENT ON FUNCTION pgmnemo._lexemes(regconfig, text) IS 'to_tsvector(config, pgmnemo._parser_input(words)) without accents of Latin letters, with stop words that are written as names; for pg_catalog.english, irregular forms and a few everyday words counted as their root (went as go, children as child, two as 2)';
