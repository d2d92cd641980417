-- Return the number of lessons in scope, and the number that the gate would hide; the gate is off meanwhile.
CREATE FUNCTION pgmnemo.count(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    filter     jsonb       DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    everything boolean     DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (lessons bigint, hidden bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    gated boolean;
    scope pgmnemo.scope;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    gated := (pgmnemo._settings()).gate_strict = 'enforce' AND everything IS NOT TRUE;
    scope := pgmnemo._listed_scope(tenant, count.project_id, 'off', filter, valid_at, known_at, everything);
    IF scope.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT count(*) FILTER (WHERE NOT gated OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL),
               count(*) FILTER (WHERE gated AND l.commit_sha IS NULL AND l.artifact_hash IS NULL)
          FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (scope.ids);
    ELSE
        RETURN QUERY
        SELECT count(*) FILTER (WHERE NOT gated OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL),
               count(*) FILTER (WHERE gated AND l.commit_sha IS NULL AND l.artifact_hash IS NULL)
          FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._is_listed(l, scope);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.count IS 'how many lessons pgmnemo.list would give for the same arguments, and how many more it would but for pgmnemo.gate_strict. Reads each lesson in scope, unless an index knows a condition of the filter. tenant NULL: the session''s';
