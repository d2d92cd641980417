-- A question with the times of other languages put as English says them; good for reading times alone.
CREATE FUNCTION pgmnemo._times_in_english(question text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    word record;
BEGIN
    FOR word IN SELECT * FROM pgmnemo._time_words() LOOP
        question := regexp_replace(question, word.pattern, word.says, 'g');
    END LOOP;
    RETURN question;
END
$$;
