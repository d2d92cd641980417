-- Return the lexemes of a question under each of these configurations, and for each the number of its word, which is
-- the same under every configuration (NULL under a single one). A stop word of one configuration is dropped: else a
-- lesson stored under a wrong language would match every "the". A question of only stop words asks for these.
CREATE FUNCTION pgmnemo._question_words(words text, configs regconfig[], OUT lexemes text[], OUT numbers integer[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text;
    names text[];
BEGIN
    IF cardinality(configs) = 1 THEN
        lexemes := tsvector_to_array(pgmnemo._lexemes(configs[1], words));
    ELSE
        prepared := pgmnemo._parser_input(words);
        WITH form AS MATERIALIZED (
            SELECT u.config, v.lexeme, p.place
              FROM unnest(configs) AS u (config)
             CROSS JOIN LATERAL unnest(to_tsvector(u.config, pgmnemo._stemmer_input(u.config, prepared))) v
             CROSS JOIN LATERAL unnest(v.positions) AS p (place)
        ), word AS (
            SELECT pgmnemo._without_accents(CASE WHEN f.config = 'pg_catalog.english'::regconfig
                                        THEN coalesce(pgmnemo._form_roots() ->> f.lexeme, f.lexeme)
                                        ELSE f.lexeme END) AS lexeme, min(f.place) AS place
              FROM form f
             WHERE f.place IN (SELECT k.place FROM form k GROUP BY k.place
                               HAVING count(DISTINCT k.config) = cardinality(configs))
             GROUP BY 1
        )
        SELECT coalesce(array_agg(w.lexeme ORDER BY w.lexeme COLLATE "C"), '{}'),
               coalesce(array_agg(w.place ORDER BY w.lexeme COLLATE "C"), '{}') INTO lexemes, numbers
          FROM word w;
        names := ARRAY(SELECT DISTINCT n FROM unnest(configs) AS u (config)
                        CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._stop_word_names(u.config, words))) n
                        WHERE n <> ALL (lexemes) ORDER BY n);
        lexemes := lexemes || names;
        numbers := numbers || ARRAY(SELECT -n FROM generate_series(1, cardinality(names)) n);
    END IF;
    IF lexemes = '{}' THEN
        numbers := NULL;
        lexemes := tsvector_to_array(to_tsvector('pg_catalog.simple', pgmnemo._stemmer_input(
            'pg_catalog.simple', pgmnemo._parser_input(words))));
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo._question_words(text, regconfig[]) IS 'lexemes: those of a question under all these configurations; numbers: for each the number of the word that it is a form of, NULL: each is a word of its own';
