CREATE FUNCTION pgmnemo.tenant_uuid(name text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT pgmnemo._name_uuid('3c2f5ee1-5d0c-5c5f-9a1f-6a3b6e1d7c55', name) $$;

COMMENT ON FUNCTION pgmnemo.tenant_uuid(text) IS 'the uuid of the tenant that clients call by this name';
