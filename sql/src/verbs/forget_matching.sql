-- Forget lessons by a filter. A dry run selects the same lessons, so it counts what the call would forget.
CREATE FUNCTION pgmnemo.forget_matching(
    tenant     uuid,
    filter     jsonb,
    project_id uuid    DEFAULT NULL,
    hard       boolean DEFAULT false,
    dry_run    boolean DEFAULT false,
    revive     boolean DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    scope pgmnemo.scope;
    ids bigint[];
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_forgetting(filter);
    IF dry_run IS NOT TRUE THEN
        PERFORM pgmnemo._write_tenant(tenant);
    END IF;
    scope := pgmnemo._listed_scope(tenant, forget_matching.project_id, 'off', filter, NULL, NULL, true);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id = ANY (scope.ids) AND (hard OR l.active)
                  UNION ALL
                 SELECT l.id FROM pgmnemo.lesson l
                  WHERE scope.ids IS NULL AND l.tenant_id = tenant AND pgmnemo._in_scope(l.project_id, scope)
                    AND pgmnemo._is_listed(l, scope) AND (hard OR l.active));
    IF dry_run IS NOT TRUE THEN
        PERFORM pgmnemo._inherit_supersessions(tenant, ids, revive);
    END IF;
    IF dry_run THEN
        NULL;
    ELSIF hard THEN
        DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    ELSE
        UPDATE pgmnemo.lesson l SET active = false WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN cardinality(ids);
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_matching IS 'forgets, as pgmnemo.forget does, every lesson that matches a filter (as in recall, pgmnemo._filter): superseded, expired and unproven ones, too, and with hard softly forgotten ones; project_id NULL: in all projects. dry_run: nothing is forgotten. Returns how many lessons it forgot, or would. A filter that is NULL or says nothing is an error: pgmnemo.forget_all forgets everything. tenant NULL: the session''s';
