-- Return a set of lessons as it is stored: one list, names in composed form (a lesson that an upgrade left under
-- another form keeps its key), and blank provenance as none. Most sets need no change, and are returned as they are.
CREATE FUNCTION pgmnemo._composed_input(tenant uuid, lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.lesson_input[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place integer;
BEGIN
    IF array_ndims(lessons) > 1 OR array_lower(lessons, 1) <> 1 THEN
        lessons := ARRAY(SELECT unnest(lessons));
    END IF;
    FOR place IN
        SELECT u.place
          FROM (SELECT generate_subscripts(lessons, 1) AS place, unnest(lessons) AS i OFFSET 0) u
         CROSS JOIN LATERAL concat_ws(' ', (u.i).external_id, (u.i).role, (u.i).topic) AS names
         WHERE names <> pgmnemo._nfc(names) OR (u.i).commit_sha !~ '\S' OR (u.i).artifact_hash !~ '\S'
    LOOP
        lessons[place].external_id := pgmnemo._stored_key(tenant, lessons[place].project_id,
                                                          lessons[place].external_id);
        lessons[place].role := pgmnemo._nfc(lessons[place].role);
        lessons[place].topic := pgmnemo._nfc(lessons[place].topic);
        lessons[place].commit_sha := CASE WHEN lessons[place].commit_sha ~ '\S' THEN lessons[place].commit_sha END;
        lessons[place].artifact_hash := CASE WHEN lessons[place].artifact_hash ~ '\S'
                                             THEN lessons[place].artifact_hash END;
    END LOOP;
    RETURN lessons;
END
$$;
