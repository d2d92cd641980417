-- Return for each segment the places with a sum of at least a level, above 0.
CREATE FUNCTION pgmnemo._places_at_level(planes varbit[], digits integer, level bigint)
RETURNS varbit[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found varbit[];
    plane varbit;
    above varbit;
    equal varbit;
BEGIN
    FOR segment IN 1 .. cardinality(planes) / digits LOOP
        above := planes[segment * digits] # planes[segment * digits];
        equal := ~ above;
        FOR digit IN REVERSE digits .. 1 LOOP
            plane := planes[(segment - 1) * digits + digit];
            IF (level >> (digit - 1)) & 1 = 1 THEN
                equal := equal & plane;
            ELSE
                above := above | (equal & plane);
                equal := equal & ~ plane;
            END IF;
        END LOOP;
        found[segment] := above | equal;
    END LOOP;
    RETURN found;
END
$$;
