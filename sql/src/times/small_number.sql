-- NULL for what is no number; a thousand years are no memory, and PostgreSQL's calendar ends.
CREATE FUNCTION pgmnemo._small_number(word text)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN word ~ '^[0-9]{1,3}$' THEN word::float8
                WHEN word IN ('a', 'an') THEN 1
                WHEN word = 'couple' THEN 2
                WHEN word = 'few' THEN 3
                ELSE array_position('{one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}', word) END
$$;
