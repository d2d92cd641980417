-- Return the greatest sum that at least `wanted` places reach, or 1, and the places of each piece that reach it.
CREATE FUNCTION pgmnemo._level(planes varbit[], digits integer, wanted bigint,
                               OUT level bigint, OUT reached varbit[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pieces constant integer := cardinality(planes) / digits;
    equal varbit[];   -- places whose digits so far are those of the level
    further varbit[];
    above bigint := 0;
    more bigint;
BEGIN
    level := 0;
    FOR piece IN 1 .. pieces LOOP
        reached[piece] := planes[piece * digits] # planes[piece * digits];
        equal[piece] := ~ reached[piece];
    END LOOP;
    FOR digit IN REVERSE digits .. 1 LOOP
        more := 0;
        FOR piece IN 1 .. pieces LOOP
            further[piece] := equal[piece] & planes[(piece - 1) * digits + digit];
            more := more + bit_count(further[piece]);
        END LOOP;
        IF above + more >= wanted THEN
            level := level + (1::bigint << (digit - 1));
            equal := further;
        ELSE
            above := above + more;
            FOR piece IN 1 .. pieces LOOP
                reached[piece] := reached[piece] | further[piece];
                equal[piece] := equal[piece] & ~ planes[(piece - 1) * digits + digit];
            END LOOP;
        END IF;
    END LOOP;
    IF level = 0 THEN
        level := 1;  -- fewer have any at all: the others are not among them
    ELSE
        FOR piece IN 1 .. pieces LOOP
            reached[piece] := reached[piece] | equal[piece];
        END LOOP;
    END IF;
END
$$;
