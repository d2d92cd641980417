-- Return whether a call may return a lesson; the same in every leg. PostgreSQL inlines it, and most calls need no more
-- than its first tests.
CREATE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.active
       AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
       AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
       AND ((scope).plain
            OR ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL)
               AND ((scope).known_at IS NULL OR pgmnemo._held_as_known(l, scope))
               AND ((scope).filtered IS NOT TRUE OR pgmnemo._passes_filter_call(l, (scope).filter)))
$$;
