CREATE FUNCTION pgmnemo._setting_valid(value text, kind text, low float8, high float8, choices text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN choices IS NOT NULL THEN value = ANY (choices)
        WHEN kind = 'uuid' THEN value IS NULL OR pg_input_is_valid(value, 'uuid')
        WHEN kind = 'name' THEN true
        WHEN kind = 'time zone' THEN pgmnemo._zone(value) IS NOT NULL
        WHEN low IS NULL THEN value = 'auto' OR pgmnemo._config(value) IS NOT NULL
        WHEN NOT pg_input_is_valid(value, 'float8') THEN false
        WHEN kind = 'whole number' AND value !~ '^ *[0-9]+ *$' THEN false
        ELSE value::float8 BETWEEN low AND high
    END
$$;
