-- Whether a lesson held at a moment by what was known at another time: stored by then, and not known to be superseded.
CREATE FUNCTION pgmnemo._believed(l pgmnemo.lesson, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (l).stored_at <= known_at
       AND NOT EXISTS (SELECT FROM pgmnemo.supersession x
                        WHERE x.tenant_id = (l).tenant_id AND x.old_id = (l).id AND x.valid_from <= moment
                          AND pgmnemo._link_known(x, known_at))
$$;
