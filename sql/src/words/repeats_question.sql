-- Return whether a lesson is the question itself: it is a question, and has no word that the question lacks, except in
-- a lead-in (pgmnemo._without_lead_in). A lesson that states something is an answer, with any words.
CREATE FUNCTION pgmnemo._repeats_question(content text, topic text, config text, lexemes tsvector, question text[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- characters of a question that may be asked again
    most constant integer := 24;  -- lexemes of a lead-in
    more tsvector;
BEGIN
    IF topic IS NULL THEN
        more := ts_delete(lexemes, question);
        IF length(more) > most THEN
            RETURN false;
        END IF;
    END IF;
    IF length(lexemes) = 0 OR length(content) > longest OR NOT pgmnemo._is_question(content)
       OR pgmnemo._config(config) IS NULL THEN
        RETURN false;
    ELSIF topic IS NOT NULL THEN
        more := ts_delete(pgmnemo._lexemes(pgmnemo._config(config), content), question);
    END IF;
    RETURN length(more) = 0
           OR length(more) <= most
              AND length(ts_delete(pgmnemo._lexemes(pgmnemo._config(config), pgmnemo._without_lead_in(content)),
                                   question)) = 0;
END
$$;
