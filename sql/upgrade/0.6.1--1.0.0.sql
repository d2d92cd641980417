-- How a database that holds 0.6.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- New objects belong to the extension's owner, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- No verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

@changed
@comments
@file rights/rights.sql

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
