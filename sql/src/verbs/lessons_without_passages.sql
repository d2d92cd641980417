-- Return lessons without passages in pages by id, so that a client that adds passages to a whole tenant reads each
-- lesson once. Sub-select and settings keep to the two keys, however the tables have grown since planning.
CREATE FUNCTION pgmnemo.lessons_without_passages(
    tenant uuid,
    after  bigint  DEFAULT 0,
    most   integer DEFAULT 100,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT t.* FROM pgmnemo.lesson t
     WHERE t.tenant_id = tenant AND t.id > after AND t.active
       AND NOT EXISTS (SELECT FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = t.id OFFSET 0)
     ORDER BY t.id LIMIT most;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.lessons_without_passages IS 'the active lessons of a tenant that have no passages, in order of id: those after an id, at most so many';
