-- Whether a lesson was known to be superseded at a moment, by what was known at a time. It takes no lesson as a whole,
-- which would be copied at each call, and fixes no search path, for recall asks it of every lesson that it finds.
CREATE FUNCTION pgmnemo._superseded_then(tenant uuid, lesson bigint, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.supersession x
                    WHERE x.tenant_id = tenant AND x.old_id = lesson AND x.valid_from <= moment
                      AND pgmnemo._link_known(x, known_at));
END
$$;
