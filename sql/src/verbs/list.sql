-- Return lessons in pages by id. The settings keep to the keys, however the tables have grown since planning.
CREATE FUNCTION pgmnemo.list(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    filter     jsonb       DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    everything boolean     DEFAULT false,
    after      bigint      DEFAULT NULL,
    most       integer     DEFAULT 100,
    newest     boolean     DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
    first bigint := CASE WHEN newest THEN 0 ELSE coalesce(after, 0) END;
    last bigint := CASE WHEN newest THEN coalesce(after, 9223372036854775807) ELSE 9223372036854775807 END;
    scope pgmnemo.scope;
    hidden integer;
    page bigint[];
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    scope := pgmnemo._listed_scope(tenant, list.project_id, (pgmnemo._settings()).gate_strict, filter, valid_at,
                                   known_at, everything);
    IF after IS NULL AND everything IS NOT TRUE THEN
        hidden := pgmnemo._hidden_count(scope);
    END IF;
    scope.ids := coalesce(scope.ids, pgmnemo._small_project(scope));
    IF scope.ids IS NOT NULL THEN
        page := ARRAY(SELECT i FROM unnest(scope.ids) i WHERE i > first AND i < last
                       ORDER BY CASE WHEN newest THEN -i ELSE i END LIMIT most);
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (page)
         ORDER BY CASE WHEN newest THEN -l.id ELSE l.id END;
    ELSIF newest THEN
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.id < last
           AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._is_listed(l, scope)
         ORDER BY l.id DESC LIMIT most;
    ELSE
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.id > first
           AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._is_listed(l, scope)
         ORDER BY l.id LIMIT most;
    END IF;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._check_all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list IS 'lessons as they are kept, in pages of at most so many (1 to 10,000) by id, which is the order of storing, or from the newest back; after: the last id of the page before, so that what is written meanwhile moves nothing (a transaction that takes longer than a page may still bring ids before it). Those that a recall could answer with now, or at valid_at by what was known at known_at; everything: softly forgotten, superseded, expired and unproven ones, too. project_id NULL: all; filter as in recall (pgmnemo._filter): where no index knows a condition, pages are read until they are full. tenant NULL: the session''s';
