-- Return a time zone for AT TIME ZONE, which counts the signs of bare numbers the other way; NULL: invalid.
CREATE FUNCTION pgmnemo._zone(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN name = 'UTC' THEN name
                WHEN name ~ '^[+-](0[0-9]|1[0-5]):[0-5][0-9]$' THEN translate(name, '+-', '-+')
                WHEN name ~ '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$'
                     AND pg_input_is_valid('2000-01-01 00:00 ' || name, 'timestamptz') THEN name END
$$;
