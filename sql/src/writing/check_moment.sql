-- Check the moment and the reason of a change.
CREATE FUNCTION pgmnemo._check_moment(at timestamptz, reason text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT isfinite(at) THEN
        RAISE EXCEPTION 'at is %, but must be finite', at
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for now.';
    ELSIF octet_length(reason) > 10000 THEN
        RAISE EXCEPTION 'reason has % bytes, but may have 10000', octet_length(reason)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store a longer text as a lesson, and name it here.';
    END IF;
END
$$;
