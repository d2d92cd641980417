-- Raise the error of a lesson that cannot be stored; ordinal is its number in its set, NULL for a single lesson.
CREATE FUNCTION pgmnemo._refuse_lesson(ordinal bigint, external_id text, problem text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION '% %', pgmnemo._lesson_label(ordinal, external_id), problem
        USING ERRCODE = 'invalid_parameter_value',
              HINT = CASE WHEN ordinal IS NULL THEN 'It was not stored.' ELSE 'Nothing of the set was stored.' END;
    END IF;
END
$$;
