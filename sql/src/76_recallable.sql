-- Which lessons a call may answer with; the same in every leg.
CREATE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, wanted_role text, valid_at timestamptz, gate text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT l.active
       AND (wanted_role IS NULL OR l.role = wanted_role)
       AND (valid_at IS NULL OR (coalesce(l.occurred_at, l.stored_at) <= valid_at
                                 AND (l.expires_at IS NULL OR valid_at < l.expires_at)))
       AND (gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL)
$$;
