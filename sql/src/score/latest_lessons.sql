-- Return the first lessons of a recall without a question: of the 10,000 latest recallable lessons in scope, the
-- `wanted` lessons with the highest recency and importance.
CREATE FUNCTION pgmnemo._latest_lessons(scope pgmnemo.scope, s pgmnemo.settings, moment timestamptz, wanted integer)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT n.id
      FROM (SELECT l.id, l.project_id, l.external_id, l.importance, coalesce(l.occurred_at, l.stored_at) AS happened
              FROM pgmnemo.lesson l
             WHERE l.tenant_id = (scope).tenant AND pgmnemo._in_scope(l.project_id, scope)
               AND ((scope).ids IS NULL OR l.id = ANY ((scope).ids))
               AND pgmnemo._recallable(l, scope)
             ORDER BY CASE WHEN l.occurred_at IS NULL THEN l.stored_at ELSE l.occurred_at END DESC
             LIMIT greatest(wanted, 10000)) n
     ORDER BY (s).recency_weight * pgmnemo._recency(moment, n.happened, (s).recency_half_life)
              + (s).importance_weight * pgmnemo._importance(n.importance) DESC,
           n.external_id, n.project_id
     LIMIT wanted
$$;
