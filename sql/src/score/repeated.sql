-- Of which lexemes a lesson is that repeats the question: those of the question, in mode vector, too. NULL where
-- lessons rank by their score alone, or nothing is asked in words.
CREATE FUNCTION pgmnemo._repeated(scope pgmnemo.scope, asked pgmnemo.question, words text, mode text,
                                  duplicates boolean)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF duplicates IS NULL OR words IS NULL OR mode <> 'vector' THEN
        RETURN CASE WHEN duplicates IS NOT NULL THEN nullif(asked.terms, '{}') END;
    END IF;
    RETURN (SELECT q.lexemes FROM pgmnemo._question_words(words, pgmnemo._tenant_configs(scope.tenant)) q
             WHERE NOT pgmnemo._blank(words));
END
$$;
