CREATE FUNCTION pgmnemo._check_patch(metadata jsonb, patch jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF metadata IS NOT NULL AND patch IS NOT NULL THEN
        RAISE EXCEPTION 'metadata and patch are both given'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'metadata replaces what is there, patch is merged into it.';
    ELSIF jsonb_typeof(patch) <> 'object' THEN
        RAISE EXCEPTION 'patch is of type %, but must be an object', jsonb_typeof(patch)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"lang": "de"}.';
    END IF;
END
$$;
