CREATE FUNCTION pgmnemo._check_link(source_id bigint, target_id bigint, kind text, weight float8,
                                    valid_from timestamptz, valid_to timestamptz)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF source_id = target_id THEN
        RAISE EXCEPTION 'a lesson cannot be linked to itself' USING ERRCODE = 'invalid_parameter_value';
    ELSIF coalesce(octet_length(kind), 0) NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'kind has % bytes, but must have 1 to 1000', coalesce(octet_length(kind), 0)
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF weight IS NULL OR NOT (weight >= 1e-30 AND weight <= 1) THEN
        RAISE EXCEPTION 'weight is %, but must be from 1e-30 to 1', coalesce(weight::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF valid_to <= valid_from THEN
        RAISE EXCEPTION 'valid_to is %, but must be after valid_from, %', valid_to, valid_from
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
