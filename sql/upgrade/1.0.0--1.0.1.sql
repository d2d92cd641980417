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

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
