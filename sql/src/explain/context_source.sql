-- Return the external id of the lesson that gives a candidate its context.
CREATE FUNCTION pgmnemo._context_source(candidates pgmnemo.candidate[], own pgmnemo.candidate,
                                        s pgmnemo.settings)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM unnest(candidates) c
     CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
     WHERE c.project_id = (own).project_id
       AND (c.lesson_id = (own).lesson_id OR c.occurred_at = (own).occurred_at)
     ORDER BY r.relevance DESC, c.external_id
     LIMIT 1
$$;
