CREATE FUNCTION pgmnemo.end_fact(
    tenant     uuid,
    project_id uuid,
    subject    text,
    relation   text,
    object     text        DEFAULT NULL,
    at         timestamptz DEFAULT NULL,
    reason     text        DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment timestamptz := coalesce(at, now());
    fact jsonb := pgmnemo._fact_metadata(subject, relation, object);
    ended bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_moment(moment, reason);
    IF fact -> 'subject' IS NULL OR fact -> 'relation' IS NULL THEN
        RAISE EXCEPTION 'a fact needs a subject and a relation' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT count(pgmnemo._supersede(tenant, l.id, NULL, end_fact.reason, moment)) INTO ended
      FROM (SELECT l.id FROM pgmnemo._facts_at(tenant, end_fact.project_id, fact, moment) l OFFSET 0) l;
    PERFORM pgmnemo._leave();
    RETURN ended;
END
$$;

COMMENT ON FUNCTION pgmnemo.end_fact IS 'ends what holds of a subject and a relation, of one object or of all, from at on (NULL: now), without anything in its place; returns how many facts that were. pgmnemo.undo_supersede takes it back, by the fact''s key. tenant NULL: the session''s';
