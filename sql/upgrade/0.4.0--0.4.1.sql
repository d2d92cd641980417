-- How a database that holds 0.4.0 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py). No table, no row and no answer
-- changes: recall takes less time, `list_bare` is new, and an id that is taken is no longer passed over.
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- Who comes from 0.3.1 hears here what a new installation says.
@file guard/vector_version.sql

-- What has other arguments or another result. All else is replaced in place, so that rights which were granted or
-- revoked on it stay.
DROP FUNCTION pgmnemo._lesson_terms, pgmnemo._ranked, pgmnemo._score;
@changed
@comments
@file rights/rights.sql

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
