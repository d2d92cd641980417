-- Let a lesson supersede another from a moment on, or with NULL end it without a successor; the tenant is locked.
-- Former knowledge is not overwritten: the row in force is marked as undone, and a new row records what holds now.
CREATE FUNCTION pgmnemo._supersede(tenant uuid, old bigint, new bigint, reason text, at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old = new OR EXISTS (
        WITH RECURSIVE after (id) AS (
            SELECT new
             UNION
            SELECT x.new_id
              FROM after a
             CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                                  WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.undone_at IS NULL
                                    AND x.new_id IS NOT NULL OFFSET 0) x)
        SELECT FROM after a WHERE a.id = old) THEN
        RAISE EXCEPTION 'a lesson cannot supersede itself, nor one that took its place'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'pgmnemo.timeline shows which took the place of which.';
    END IF;
    -- the row first: another session that has changed it meanwhile is met here, in each isolation level
    UPDATE pgmnemo.lesson l SET superseded_at = at WHERE l.tenant_id = tenant AND l.id = old;
    UPDATE pgmnemo.supersession x SET undone_at = clock_timestamp()
     WHERE x.tenant_id = tenant AND x.old_id = old AND x.undone_at IS NULL;
    INSERT INTO pgmnemo.supersession (tenant_id, old_id, new_id, valid_from, reason, recorded_at)
    VALUES (tenant, old, new, at, reason, clock_timestamp());
END
$$;
