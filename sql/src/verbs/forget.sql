CREATE FUNCTION pgmnemo.forget(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    hard        boolean DEFAULT false,
    revive      boolean DEFAULT false,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text COLLATE "default" := forget.external_id;
    gone bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._write_tenant(tenant);
    key := pgmnemo._stored_key(tenant, forget.project_id, key);
    PERFORM pgmnemo._inherit_supersessions(tenant, ARRAY(SELECT l.id FROM pgmnemo.lesson l
                                             WHERE l.tenant_id = tenant AND l.project_id = forget.project_id
                                               AND l.external_id = key), revive);
    IF hard THEN
        DELETE FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key;
    ELSE
        UPDATE pgmnemo.lesson l SET active = false
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key
           AND l.active;
    END IF;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget IS 'soft: out of recall and out of the statistics, and storing the lesson again restores it; hard: gone, with its edges. Lessons whose place it took stay out of recall, and a NOTICE says so; with revive they hold again. Returns whether anything was forgotten';
