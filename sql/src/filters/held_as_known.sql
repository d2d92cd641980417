-- Return whether a lesson was valid at the scope's moment, as known at another time: it was stored by then, and not
-- known to be superseded. The function sets no search path, so that PostgreSQL inlines it.
CREATE FUNCTION pgmnemo._held_as_known(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (l).stored_at <= (scope).known_at
       AND CASE WHEN (scope).ended IS NOT NULL THEN NOT (scope).ended @> (l).id
                ELSE NOT pgmnemo._superseded_then((l).tenant_id, (l).id, (scope).moment, (scope).known_at) END
$$;
