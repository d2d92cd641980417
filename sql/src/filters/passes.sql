-- What a filter and known_at ask of a lesson. It becomes a part of each statement that asks: a call for each row would
-- cost more than what it asks.
CREATE FUNCTION pgmnemo._passes(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (((scope).filter).roles IS NULL OR l.role = ANY (((scope).filter).roles))
       AND (((scope).filter).topics IS NULL OR l.topic = ANY (((scope).filter).topics))
       AND (((scope).filter).topic_prefix IS NULL OR starts_with(l.topic, ((scope).filter).topic_prefix))
       AND (((scope).filter).since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= ((scope).filter).since)
       AND (((scope).filter).until IS NULL OR coalesce(l.occurred_at, l.stored_at) < ((scope).filter).until)
       AND (((scope).filter).contained IS NULL OR l.metadata @> ((scope).filter).contained)
       AND (((scope).filter).matching IS NULL OR l.metadata @@ ((scope).filter).matching)
       AND ((scope).known_at IS NULL OR pgmnemo._believed(l, (scope).moment, (scope).known_at))
$$;
