-- Lessons in order of id, so that the work may stop at any time and go on from where it was.
CREATE FUNCTION pgmnemo.recut(
    tenant   uuid,
    language text    DEFAULT 'auto',
    after    bigint  DEFAULT 0,
    most     integer DEFAULT 1000,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (changed integer, next_after bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
    wanted text COLLATE "default" := coalesce(recut.language, 'auto');
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    IF pgmnemo._language_config(wanted) IS NULL THEN
        RAISE EXCEPTION 'language is %, but must be auto, a text search configuration or a code of ISO 639',
              quote_literal(left(wanted, 100))
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SELECT cfgname FROM pg_ts_config lists the configurations.';
    END IF;
    PERFORM pgmnemo._lock_tenant(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(recut.after, 0) ORDER BY l.id LIMIT most);
    WITH written AS (
        UPDATE pgmnemo.lesson l SET text_config = c.config
          FROM (SELECT k.id, pgmnemo._written_config(wanted, concat_ws(E'\n', k.topic, k.content))::text AS config
                  FROM pgmnemo.lesson k WHERE k.tenant_id = tenant AND k.id = ANY (ids) OFFSET 0) c
         WHERE l.tenant_id = tenant AND l.id = c.id AND l.text_config <> c.config
        RETURNING 1
    )
    SELECT count(*) INTO changed FROM written;
    next_after := ids[cardinality(ids)];
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.recut IS 'cuts the next lessons in order of id (after; at most so many, 1 to 10,000) into words anew, by a language: auto recognizes that of each, a text search configuration or a code of ISO 639 is that of all. Returns how many changed, and from where to go on: call again with after => next_after until that is NULL. Waits for the tenant''s writers. tenant NULL: the session''s';
