-- Return the greatest sum that at least `wanted` places reach, or 1, and the places of each segment that reach it.
CREATE FUNCTION pgmnemo._threshold_level(planes varbit[], digits integer, wanted bigint,
                                         OUT level bigint, OUT reached varbit[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    segments constant integer := cardinality(planes) / digits;
    equal varbit[];   -- places whose digits so far are those of the level
    further varbit[];
    above bigint := 0;
    more bigint;
BEGIN
    level := 0;
    FOR segment IN 1 .. segments LOOP
        reached[segment] := planes[segment * digits] # planes[segment * digits];
        equal[segment] := ~ reached[segment];
    END LOOP;
    FOR digit IN REVERSE digits .. 1 LOOP
        more := 0;
        FOR segment IN 1 .. segments LOOP
            further[segment] := equal[segment] & planes[(segment - 1) * digits + digit];
            more := more + bit_count(further[segment]);
        END LOOP;
        IF above + more >= wanted THEN
            level := level + (1::bigint << (digit - 1));
            equal := further;
        ELSE
            above := above + more;
            FOR segment IN 1 .. segments LOOP
                reached[segment] := reached[segment] | further[segment];
                equal[segment] := equal[segment] & ~ planes[(segment - 1) * digits + digit];
            END LOOP;
        END IF;
    END LOOP;
    IF level = 0 THEN
        level := 1;  -- fewer have any at all: the others are not among them
    ELSE
        FOR segment IN 1 .. segments LOOP
            reached[segment] := reached[segment] | equal[segment];
        END LOOP;
    END IF;
END
$$;
