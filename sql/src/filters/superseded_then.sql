-- Return whether a lesson was superseded at a moment, as known at a time. The function takes no whole lesson,
-- because each call would copy it, and sets no search path, because recall calls it for every lesson found.
CREATE FUNCTION pgmnemo._superseded_then(tenant uuid, lesson bigint, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.supersession x
                    WHERE x.tenant_id = tenant AND x.old_id = lesson AND x.valid_from <= moment
                      AND pgmnemo._supersession_known(x, known_at));
END
$$;
