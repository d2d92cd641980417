-- Check the names of the fields that a writer clears.
CREATE FUNCTION pgmnemo._check_clear(clear text[], allowed text[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT coalesce(quote_literal(left(c, 100)), 'NULL') FROM unnest(clear) c
                    WHERE (c = ANY (allowed)) IS NOT TRUE LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'clear names %, which cannot be cleared', wrong
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Those are ' || array_to_string(allowed, ', ') || '.';
    END IF;
END
$$;
