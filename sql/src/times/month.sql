-- Return a month's number from its name, or from the number in an ISO date.
CREATE FUNCTION pgmnemo._month(name text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN name ~ '^[0-9]' THEN name::integer
                ELSE array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}', left(name, 3)) END
$$;
