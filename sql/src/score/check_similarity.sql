CREATE FUNCTION pgmnemo._check_similarity(least_cosine float8, least_words float8)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong record;
BEGIN
    SELECT g.name, g.value INTO wrong
      FROM (VALUES ('least_cosine', least_cosine), ('least_words', least_words)) AS g (name, value)
     WHERE NOT (g.value >= 0.5 AND g.value <= 1) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% is %, but must be from 0.5 to 1', wrong.name, wrong.value
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give NULL to leave it out.';
    ELSIF coalesce(least_cosine, least_words) IS NULL THEN
        RAISE EXCEPTION 'least_cosine and least_words are both NULL'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Say by which of them lessons are to be alike.';
    END IF;
END
$$;
