-- What a filter and known_at ask of a lesson.
CREATE FUNCTION pgmnemo._passes(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    f constant pgmnemo.filter := scope.filter;
BEGIN
    RETURN (f.roles IS NULL OR coalesce(l.role = ANY (f.roles), false))
       AND (f.topics IS NULL OR coalesce(l.topic = ANY (f.topics), false))
       AND (f.topic_prefix IS NULL OR coalesce(starts_with(l.topic, f.topic_prefix), false))
       AND (f.since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= f.since)
       AND (f.until IS NULL OR coalesce(l.occurred_at, l.stored_at) < f.until)
       AND (f.contained IS NULL OR l.metadata @> f.contained)
       AND (f.matching IS NULL OR coalesce(l.metadata @@ f.matching, false))
       AND (scope.known_at IS NULL OR pgmnemo._believed(l, scope.moment, scope.known_at));
END
$$;
