CREATE FUNCTION pgmnemo.facts(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    subject    text        DEFAULT NULL,
    relation   text        DEFAULT NULL,
    object     text        DEFAULT NULL,
    at         timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    history    boolean     DEFAULT false,
    most       integer     DEFAULT 1000,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    in_project  uuid,
    key         text,
    said_of     text,
    related     text,
    told        text,
    content     text,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := CASE WHEN history THEN '-infinity' ELSE coalesce(facts.at, now()) END;
    asked jsonb := (SELECT jsonb_object_agg('fact.' || f.key, f.value)
                      FROM jsonb_each(pgmnemo._fact_metadata(facts.subject, facts.relation, facts.object)) f);
    scope pgmnemo.scope;
    hidden integer;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    IF most IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'most is %, but must be from 1 to 10000', coalesce(most::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- `history` asks as of a moment before everything, when nothing has ended yet, and does without valid_at
    scope := pgmnemo._filtered_scope(
        tenant, facts.project_id, (pgmnemo._settings()).gate_strict, NULL,
        CASE WHEN NOT history THEN moment END, moment, facts.known_at,
        jsonb_build_object('metadata', '{"fact.subject": {"exists": true}}' || coalesce(asked, '{}')));
    hidden := pgmnemo._hidden_count(scope);
    RETURN QUERY
    SELECT l.project_id, l.external_id, l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}',
           l.metadata #>> '{fact,object}', l.content, coalesce(l.occurred_at, l.stored_at),
           nullif(least(x.valid_from, l.expires_at), 'infinity'), x.reason, l.stored_at
      FROM (SELECT i.id FROM unnest(scope.ids) AS i (id)
             UNION ALL
            SELECT pgmnemo._further_lessons(scope, '{}', NULL) WHERE scope.ids IS NULL) i
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = i.id OFFSET 0) l
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._supersession_known(x, facts.known_at) OFFSET 0) x ON true
     ORDER BY l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}',
              coalesce(l.occurred_at, l.stored_at), l.external_id
     LIMIT most;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._check_all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.facts IS 'the facts of a subject, a relation, an object (NULL: any) that hold at a time (NULL: now) by what was known at another (NULL: now), at most so many (1 to 10,000), by subject, relation and time; history: whenever they held. valid_from: when they happened (occurred_at, else stored_at); valid_to: from when on they no longer hold, superseded, ended or expired, and reason: why; recorded_at: when they were stored. tenant NULL: the session''s, project_id NULL: all of it';
