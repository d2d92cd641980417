-- Return whether a verb that lists, counts or forgets covers a lesson: a recallable lesson, or any with `everything`.
CREATE FUNCTION pgmnemo._is_listed(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((scope).everything IS TRUE
            OR l.active
               AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
               AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
               AND ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL))
       AND ((scope).known_at IS NULL OR pgmnemo._held_as_known(l, scope))
       AND ((scope).filtered IS NOT TRUE OR pgmnemo._passes_filter(l, (scope).filter))
$$;
