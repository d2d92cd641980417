-- Check a set of lessons: an invalid lesson or a repeated key refuses it whole. Unnested in the SELECT list, lessons
-- pass one by one, and none is copied. A single lesson needs no query.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 10000;  -- lessons
    wrong record;
    problem text;
BEGIN
    IF cardinality(lessons) = 1 THEN
        problem := pgmnemo._lesson_problem(lessons[1]);
        IF problem IS NOT NULL THEN
            PERFORM pgmnemo._refuse_lesson(NULL, (lessons[1]).external_id, problem);
        END IF;
        RETURN;
    ELSIF cardinality(lessons) > most THEN
        RAISE EXCEPTION 'the set has % lessons, but may have %', cardinality(lessons), most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store it in parts; nothing of the set was stored.';
    END IF;
    SELECT u.ordinal, (u.i).external_id, p.problem INTO wrong
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL pgmnemo._lesson_problem(u.i) AS p (problem)
     WHERE p.problem IS NOT NULL
     LIMIT 1;
    PERFORM pgmnemo._refuse_lesson(wrong.ordinal, wrong.external_id, wrong.problem);
    SELECT (u.i).external_id, (u.i).project_id INTO wrong
      FROM (SELECT unnest(lessons) AS i OFFSET 0) u GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'external_id % stands more than once in the set for project %',
              quote_literal(wrong.external_id), wrong.project_id
        USING ERRCODE = 'unique_violation', HINT = 'Give each key once; nothing of the set was stored.';
    END IF;
END
$$;
