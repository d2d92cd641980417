-- How a database that holds 1.0.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- New objects belong to the owner of the schema, whoever upgrades: pg_upgrade gives the extension to a superuser.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(n.nspowner), true)
  FROM pg_namespace n WHERE n.nspname = 'pgmnemo';
-- No verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;
DROP FUNCTION pgmnemo._composed_input(pgmnemo.lesson_input[]);
@changed
@comments
@file rights/rights.sql

-- Texts with a name in capitals within a sentence (the IT team) are cut otherwise now.
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
SELECT set_config('pgmnemo.tenants', coalesce(string_agg(DISTINCT l.tenant_id::text, ','), ''), true) FROM pgmnemo.lesson l;
ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
    capitals constant text := '[A-Za-z][ -][A-Z]{2,5}\M';
    tenant uuid;
BEGIN
    FOR tenant IN SELECT t::uuid FROM string_to_table(nullif(current_setting('pgmnemo.tenants'), ''), ',') t LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1
         WHERE l.tenant_id = tenant AND concat_ws(E'\n', l.topic, l.content) ~ capitals
           AND pgmnemo._config(l.text_config) IS NOT NULL;
        UPDATE pgmnemo.passage p SET lexemes = pgmnemo._lexemes(pgmnemo._config(l.text_config), p.content)
          FROM pgmnemo.lesson l
         WHERE p.tenant_id = tenant AND p.content ~ capitals AND l.tenant_id = tenant AND l.id = p.lesson_id
           AND pgmnemo._config(l.text_config) IS NOT NULL;
    END LOOP;
    PERFORM set_config('pgmnemo.acting_tenant', '', true), set_config('pgmnemo.tenants', '', true);
END
$$;

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
