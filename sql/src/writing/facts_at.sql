-- Return the lessons of a project that state a fact and hold at a moment (NULL: at any); without an object, with any
-- object. The shortest of the lists of lessons with its subject, relation and object is read: a subject may have many
-- facts.
CREATE FUNCTION pgmnemo._facts_at(tenant uuid, project uuid, fact jsonb, at timestamptz)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bound integer := 1000;
    one bigint;
    found bigint[];
    shortest bigint[];
BEGIN
    FOR one IN SELECT pgmnemo._metadata_entry('.fact.' || f.key, f.value) FROM jsonb_each(fact) f LOOP
        found := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                        WHERE e.tenant_id = tenant AND e.entry IN (one, 0) LIMIT bound);
        IF cardinality(found) < bound THEN
            shortest := found;
            bound := cardinality(found);
        END IF;
    END LOOP;
    IF shortest IS NULL THEN
        shortest := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                           WHERE e.tenant_id = tenant AND e.entry IN (one, 0));
    END IF;
    RETURN QUERY
    SELECT l.*
      FROM (SELECT DISTINCT u.id FROM unnest(shortest) AS u (id)) e
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = e.id OFFSET 0) l
     WHERE l.project_id = project AND l.metadata @> jsonb_build_object('fact', fact) AND l.active
       AND (at IS NULL
            OR coalesce(l.occurred_at, l.stored_at) <= at AND (l.superseded_at IS NULL OR at < l.superseded_at)
               AND (l.expires_at IS NULL OR at < l.expires_at));
END
$$;
