-- The lexemes of a question under each of these configurations, and for each the number of the word that it is a form
-- of: a word stands at one place, whatever cuts the text. A word that one of them drops as a stop word is dropped: a
-- lesson that another language was taken for would else be found by every "the". A question that consists of stop
-- words is asked by these as they are.
CREATE FUNCTION pgmnemo._question_words(words text, configs regconfig[], OUT lexemes text[], OUT numbers integer[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text;
    folded text;
    names text[];
BEGIN
    IF cardinality(configs) = 1 THEN
        lexemes := tsvector_to_array(pgmnemo._lexemes(configs[1], words));
    ELSE
        prepared := pgmnemo._prepared(words);
        folded := pgmnemo._folded(prepared);
        WITH form AS MATERIALIZED (
            SELECT u.config, v.lexeme, p.place
              FROM unnest(configs) AS u (config)
             CROSS JOIN LATERAL unnest(to_tsvector(u.config, pgmnemo._even_stems(u.config,
                    CASE WHEN u.config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig)
                         THEN folded ELSE prepared END))) v
             CROSS JOIN LATERAL unnest(v.positions) AS p (place)
        ), word AS (
            SELECT pgmnemo._folded(CASE WHEN f.config = 'pg_catalog.english'::regconfig
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
                        CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._stop_names(u.config, words))) n
                        WHERE n <> ALL (lexemes) ORDER BY n);
        lexemes := lexemes || names;
        numbers := numbers || ARRAY(SELECT -n FROM generate_series(1, cardinality(names)) n);
    END IF;
    IF lexemes = '{}' THEN
        numbers := NULL;
        lexemes := tsvector_to_array(pgmnemo._folded(to_tsvector('pg_catalog.simple', pgmnemo._prepared(words))::text)
                                     ::tsvector);
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo._question_words(text, regconfig[]) IS 'lexemes: those of a question under all these configurations; numbers: for each the number of the word that it is a form of, NULL: each is a word of its own';
