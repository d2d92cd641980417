-- What the policies go by: the tenant of the verb that runs, and between verbs none. Nobody but the extension's owner
-- may call it, so that whoever reads all data by some other right is refused, whatever he sets.
CREATE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT nullif(current_setting('pgmnemo.acting_tenant', true), '')::uuid $$;
