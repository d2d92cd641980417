-- What the policies go by: the tenant of the verb that runs, and between verbs none. Nobody but the extension's owner
-- may call it, so that whoever reads all data by some other right is refused, whatever he sets. It becomes a part of
-- each statement that asks the policies, so it names the schema of all that it uses in place of a search path.
CREATE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_catalog.current_setting('pgmnemo.acting_tenant', true) OPERATOR(pg_catalog.<>) ''
                THEN pg_catalog.current_setting('pgmnemo.acting_tenant', true)::pg_catalog.uuid END
$$;
