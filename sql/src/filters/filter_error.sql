-- Raise the error of an invalid filter.
CREATE FUNCTION pgmnemo._filter_error(item text, problem text, advice text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'filter: % %', left(item, 200), problem
    USING ERRCODE = 'invalid_parameter_value', HINT = advice;
END
$$;
