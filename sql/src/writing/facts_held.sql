-- The lessons of a project that state such a fact and hold at a moment (NULL: at any); without an object, whatever it
-- is.
CREATE FUNCTION pgmnemo._facts_held(tenant uuid, project uuid, fact jsonb, at timestamptz)
RETURNS SETOF pgmnemo.lesson
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.*
      FROM (SELECT DISTINCT e.lesson_id FROM pgmnemo.lesson_entry e
             WHERE e.tenant_id = tenant
               AND e.entry IN (pgmnemo._entry('.fact.subject', fact -> 'subject'), 0)) e
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = e.lesson_id OFFSET 0) l
     WHERE l.project_id = project AND l.metadata @> jsonb_build_object('fact', fact) AND l.active
       AND (at IS NULL
            OR coalesce(l.occurred_at, l.stored_at) <= at AND (l.superseded_at IS NULL OR at < l.superseded_at)
               AND (l.expires_at IS NULL OR at < l.expires_at))
$$;
