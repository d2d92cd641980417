-- Return a lesson by its key. The settings fix one plan, independent of the tables' statistics.
CREATE FUNCTION pgmnemo.get(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    key text COLLATE "default" := get.external_id;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    key := pgmnemo._stored_key(tenant, get.project_id, key);
    RETURN QUERY
    SELECT l.* FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = get.project_id AND l.external_id = key;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.get IS 'the lesson of a key as it is kept, whatever its state: softly forgotten (active false), superseded, expired or without provenance, too; no row where there is none. tenant NULL: the session''s';
