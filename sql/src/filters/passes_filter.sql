-- Return whether a lesson passes a filter. PostgreSQL inlines it: a call per row would cost more than the test.
CREATE FUNCTION pgmnemo._passes_filter(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((filter).roles IS NULL OR l.role = ANY ((filter).roles))
       AND ((filter).topics IS NULL OR l.topic = ANY ((filter).topics))
       AND ((filter).topic_prefix IS NULL OR starts_with(l.topic, (filter).topic_prefix))
       AND ((filter).since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= (filter).since)
       AND ((filter).until IS NULL OR coalesce(l.occurred_at, l.stored_at) < (filter).until)
       AND ((filter).contained IS NULL OR l.metadata @> (filter).contained)
       AND ((filter).matching IS NULL OR l.metadata @@ (filter).matching)
$$;
