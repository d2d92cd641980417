CREATE FUNCTION pgmnemo._setting_range(kind text, low float8, high float8, choices text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN choices IS NOT NULL THEN 'one of ' || array_to_string(choices, ', ')
        WHEN low IS NOT NULL THEN format('a %s from %s to %s', kind, low, high)
        ELSE 'a ' || kind
    END
$$;
