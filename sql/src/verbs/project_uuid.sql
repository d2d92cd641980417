CREATE FUNCTION pgmnemo.project_uuid(name text, tenant uuid DEFAULT NULL)
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT pgmnemo._name_uuid(coalesce(tenant, pgmnemo._session_tenant()), name) $$;

COMMENT ON FUNCTION pgmnemo.project_uuid(text, uuid) IS 'the uuid of the project that clients call by this name; tenant: NULL is the session''s';
