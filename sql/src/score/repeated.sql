-- Return the lexemes of a lesson that repeats the question: the question's lexemes under every configuration of the
-- tenant's lessons, even in mode vector. NULL: lessons rank only by their score, or the question has no words.
CREATE FUNCTION pgmnemo._repeated(scope pgmnemo.scope, asked pgmnemo.question, words text, mode text,
                                  duplicates boolean)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    configs regconfig[];
BEGIN
    IF duplicates IS NULL OR words IS NULL OR mode <> 'vector' AND asked.configs IS NULL THEN
        RETURN NULL;
    END IF;
    configs := coalesce(asked.configs, pgmnemo._tenant_configs(scope.tenant));
    IF mode <> 'vector' AND cardinality(configs) = 1 THEN
        RETURN nullif(asked.terms, '{}');
    END IF;
    RETURN (SELECT array_agg(DISTINCT w.lexeme)
              FROM unnest(configs) AS c (config)
             CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._lexemes(c.config, words))) AS w (lexeme));
END
$$;
