-- Return whether a supersession was known at a time (NULL: now). It sets no search path, so that PostgreSQL inlines it.
CREATE FUNCTION pgmnemo._supersession_known(x pgmnemo.supersession, known_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN known_at IS NULL THEN x.undone_at IS NULL
                ELSE x.recorded_at <= known_at AND (x.undone_at IS NULL OR x.undone_at > known_at) END
$$;
