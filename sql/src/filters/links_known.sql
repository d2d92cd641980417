-- Which supersessions were known at a time (NULL: now), of one lesson by another. It fixes no search path, so that it
-- becomes a part of the statement that asks: then each finds its index.
CREATE FUNCTION pgmnemo._links_known(tenant uuid, old bigint, new bigint, known_at timestamptz)
RETURNS SETOF pgmnemo.supersession
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.* FROM pgmnemo.supersession x
     WHERE x.tenant_id = tenant AND (old IS NULL OR x.old_id = old) AND (new IS NULL OR x.new_id = new)
       AND CASE WHEN known_at IS NULL THEN x.undone_at IS NULL
                ELSE x.recorded_at <= known_at AND (x.undone_at IS NULL OR x.undone_at > known_at) END
$$;
