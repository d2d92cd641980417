-- Return a set of lessons with names in composed form. Most sets need no change, and are returned as they are.
CREATE FUNCTION pgmnemo._composed_input(lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.lesson_input[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place integer;
BEGIN
    FOR place IN
        SELECT u.place
          FROM (SELECT generate_subscripts(lessons, 1) AS place, unnest(lessons) AS i OFFSET 0) u
         CROSS JOIN LATERAL concat_ws(' ', (u.i).external_id, (u.i).role, (u.i).topic) AS names
         WHERE names <> pgmnemo._nfc(names)
    LOOP
        lessons[place].external_id := pgmnemo._nfc(lessons[place].external_id);
        lessons[place].role := pgmnemo._nfc(lessons[place].role);
        lessons[place].topic := pgmnemo._nfc(lessons[place].topic);
    END LOOP;
    RETURN lessons;
END
$$;
