-- Return the tenant of the running verb, which the policies test; NULL between verbs. Only the extension's owner may
-- call it, so that a role that reads all data by another right is refused, regardless of its settings. PostgreSQL
-- inlines it under the policies, so it qualifies every name instead of setting a search path.
CREATE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_catalog.current_setting('pgmnemo.acting_tenant', true) OPERATOR(pg_catalog.<>) ''
                THEN pg_catalog.current_setting('pgmnemo.acting_tenant', true)::pg_catalog.uuid END
$$;
