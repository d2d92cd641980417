CREATE FUNCTION pgmnemo.timeline(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    known_at    timestamptz DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    step        integer,
    lesson_id   bigint,
    in_project  uuid,
    key         text,
    content     text,
    active      boolean,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    stored_at   timestamptz,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    middle bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    middle := pgmnemo._lesson_id(tenant, project_id, timeline.external_id COLLATE "default");
    RETURN QUERY
    -- each step looks its links up by an index (OFFSET 0): a join could be planned by statistics that are not there
    WITH RECURSIVE before (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.old_id, b.step - 1
          FROM before b
         CROSS JOIN LATERAL (SELECT x.old_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.new_id = b.id
                                AND pgmnemo._supersession_known(x, timeline.known_at) OFFSET 0) x
    ), after (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.new_id, a.step + 1
          FROM after a
         CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.new_id IS NOT NULL
                                AND pgmnemo._supersession_known(x, timeline.known_at) OFFSET 0) x
    )
    SELECT w.step, l.id, l.project_id, l.external_id, l.content, l.active, coalesce(l.occurred_at, l.stored_at),
           nullif(least(x.valid_from, l.expires_at), 'infinity'), x.reason, l.stored_at, x.recorded_at
      FROM (SELECT * FROM before UNION SELECT * FROM after) w
     CROSS JOIN LATERAL (SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = w.id OFFSET 0) l
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._supersession_known(x, timeline.known_at) OFFSET 0) x ON true
     WHERE timeline.known_at IS NULL OR l.stored_at <= timeline.known_at
     ORDER BY w.step, l.external_id, l.project_id;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.timeline IS 'a lesson, those whose place it took and those that took its own, oldest first, as known at a time (NULL: now): step below 0: before it, 0: itself, above 0: after it; valid_from: when it happened (occurred_at, else stored_at); valid_to: from when on it no longer holds, superseded, ended or expired (NULL: it holds); reason, and recorded_at: why it was superseded or ended, and when the memory learned that. active: not softly forgotten. tenant NULL: the session''s';
