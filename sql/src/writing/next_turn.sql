-- Return the next position in a project's conversation, and a key for a lesson there.
CREATE FUNCTION pgmnemo._next_turn(tenant uuid, project uuid, prefix text, apart boolean)
RETURNS TABLE (key text, place integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    last constant bigint := 1000000000;
    greatest_yet integer := (SELECT l.position FROM pgmnemo.lesson l
                              WHERE l.tenant_id = tenant AND l.project_id = project AND l.position IS NOT NULL
                              ORDER BY l.position DESC LIMIT 1);
    next bigint := greatest(coalesce(greatest_yet, 0), 0) + 1 + (apart AND greatest_yet IS NOT NULL)::integer::bigint;
    number bigint := next;
    step bigint := 1;
    taken bigint := 0;
    middle bigint;
BEGIN
    IF prefix IS NULL OR octet_length(prefix) NOT BETWEEN 1 AND 900 THEN
        RAISE EXCEPTION 'prefix has % bytes, but must have 1 to 900', coalesce(octet_length(prefix), 0)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for ''turn''.';
    ELSIF next > last THEN
        RAISE EXCEPTION 'project % has a lesson at position %, and none comes after %', project, greatest_yet, last
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Store that lesson at another position.';
    END IF;
    -- steps that double lead past keys that are taken, and halving ones back to the last of them: a log of their number
    WHILE pgmnemo._key_exists(tenant, project, prefix || '/' || number) LOOP
        taken := number;
        number := number + step;
        step := 2 * step;
    END LOOP;
    WHILE number - taken > 1 AND taken > 0 LOOP
        middle := (taken + number) / 2;
        IF pgmnemo._key_exists(tenant, project, prefix || '/' || middle) THEN
            taken := middle;
        ELSE
            number := middle;
        END IF;
    END LOOP;
    RETURN QUERY SELECT prefix || '/' || number, next::integer;
END
$$;
