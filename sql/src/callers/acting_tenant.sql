-- What the policies go by: the tenant of the verb that runs, and between verbs none. Whoever else sets it gains
-- nothing, for only the extension's owner may read the tables.
CREATE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT nullif(current_setting('pgmnemo.acting_tenant', true), '')::uuid $$;
