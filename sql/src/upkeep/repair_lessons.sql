-- The trigger derives lexemes anew under the setting, which is therefore each lesson's own configuration here. The
-- tenant's postings must be away: the siblings of that trigger would stumble over damaged ones.
CREATE FUNCTION pgmnemo._repair_lessons(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_config text := coalesce(current_setting('pgmnemo.text_config', true), '');
    stale record;
BEGIN
    FOR stale IN SELECT s.config, array_agg(s.lesson_id) AS ids
                 FROM pgmnemo._stale_lessons(tenant) s GROUP BY s.config LOOP
        PERFORM set_config('pgmnemo.text_config', coalesce(stale.config::text, own_config), true);
        UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1
         WHERE l.tenant_id = tenant AND l.id = ANY (stale.ids);
    END LOOP;
    PERFORM set_config('pgmnemo.text_config', own_config, true);
END
$$;
