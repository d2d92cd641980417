-- Raise the error of a lesson that cannot be stored.
CREATE FUNCTION pgmnemo._refuse_lesson(ordinal bigint, external_id text, problem text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'lesson % of the set, %, %',
              ordinal, quote_literal(left(coalesce(external_id, ''), 100)), problem
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
END
$$;
