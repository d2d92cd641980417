-- Parse lessons again in order of id, so that the work may stop at any time and resume there.
CREATE FUNCTION pgmnemo.recut(
    tenant   uuid,
    language text    DEFAULT NULL,
    after    bigint  DEFAULT 0,
    most     integer DEFAULT 1000,
    dry_run  boolean DEFAULT false,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (changed integer, next_after bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    wanted text COLLATE "default" := recut.language;
    usual text COLLATE "default";
    ids bigint[];
    due bigint[];
    configs text[] COLLATE "default";
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_most(most, 10000);
    PERFORM pgmnemo._checked_language(wanted) WHERE wanted IS NOT NULL;
    IF dry_run IS DISTINCT FROM true THEN
        PERFORM pgmnemo._lock_tenant(tenant);
    END IF;
    usual := pgmnemo._tenant_language(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(recut.after, 0) ORDER BY l.id LIMIT most);
    SELECT coalesce(array_agg(c.id), '{}'), array_agg(c.config) INTO due, configs
      FROM (SELECT l.id, l.text_config,
                   pgmnemo._config_of_text(wanted, concat_ws(E'\n', l.topic, l.content), usual)::text AS config
              FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids) OFFSET 0) c
     WHERE c.text_config <> c.config;
    IF dry_run IS DISTINCT FROM true THEN
        UPDATE pgmnemo.lesson l SET text_config = d.config FROM unnest(due, configs) AS d (id, config)
         WHERE l.tenant_id = tenant AND l.id = d.id;
    END IF;
    changed := cardinality(due);
    next_after := ids[cardinality(ids)];
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.recut IS 'cuts the next lessons in order of id (after; at most so many, 1 to 10,000) into words anew, by a language: NULL is that of a text which is written now without one (pgmnemo.set_language), auto recognizes that of each, a text search configuration or a code of ISO 639 is that of all. Returns how many changed, or with dry_run would, and from where to go on: call again with after => next_after until that is NULL. Also lessons whose writer named a language. Waits for the tenant''s writers. tenant NULL: the session''s';
