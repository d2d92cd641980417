-- Return the number of a word or of up to three digits; NULL: no number. PostgreSQL's calendar ends, and no memory
-- spans a thousand years.
CREATE FUNCTION pgmnemo._small_number(word text)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN word ~ '^[0-9]{1,3}$' THEN word::float8
                WHEN word IN ('a', 'an') THEN 1
                WHEN word = 'couple' THEN 2
                WHEN word = 'few' THEN 3
                WHEN word IN ('half a', 'half an') THEN 0.5
                WHEN word IN ('fifteen', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'ninety', 'hundred')
                THEN ('{"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,'
                      ' "hundred": 100}'::jsonb ->> word)::float8
                ELSE array_position('{one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}', word) END
$$;
