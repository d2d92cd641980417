-- Return the scope of verbs that list lessons: the lessons that recall could return now, or all stored lessons.
CREATE FUNCTION pgmnemo._listed_scope(tenant uuid, project uuid, gate text, given jsonb, valid_at timestamptz,
                                      known_at timestamptz, everything boolean)
RETURNS pgmnemo.scope
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF everything AND (valid_at IS NOT NULL OR known_at IS NOT NULL) THEN
        RAISE EXCEPTION 'everything stands with valid_at or known_at'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Leave it out for what held at a time; with it all lessons are meant, whenever they held.';
    END IF;
    RETURN pgmnemo._filtered_scope(tenant, project, gate, NULL, valid_at, now(), known_at,
                                given, coalesce(everything, false));
END
$$;
