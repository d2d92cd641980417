-- Check the number of rows that a call asks for.
CREATE FUNCTION pgmnemo._check_most(most integer, allowed integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF most IS NULL OR most NOT BETWEEN 1 AND allowed THEN
        RAISE EXCEPTION 'most is %, but must be from 1 to %', coalesce(most::text, 'NULL'), allowed
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Call again for those that come after.';
    END IF;
END
$$;
