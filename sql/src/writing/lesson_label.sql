-- Return what an error calls a lesson: its number in its set (NULL: a single lesson) and its key.
CREATE FUNCTION pgmnemo._lesson_label(ordinal bigint, external_id text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN ordinal IS NOT NULL
                THEN format('lesson %s of the set, %L,', ordinal, left(coalesce(external_id, ''), 100))
                WHEN external_id <> '' THEN format('lesson %L', left(external_id, 100))
                ELSE 'the lesson' END
$$;
