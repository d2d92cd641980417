-- Return a scalar as jsonpath writes it.
CREATE FUNCTION pgmnemo._scalar_path(item text, given jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF jsonb_typeof(given) IN ('object', 'array') THEN
        PERFORM pgmnemo._filter_error(item, 'must be compared with a text, a number, true, false or null',
                                      'What is larger is found by contains.');
    ELSIF jsonb_typeof(given) = 'number' AND pgmnemo._is_unprintable(given) THEN
        PERFORM pgmnemo._filter_error(item, 'is compared with a number of too many digits',
                                      'Numbers go to 1e308, with at most 400 decimals.');
    END IF;
    RETURN given::text;
END
$$;
