-- Return the serving generation of a tenant's vectors; NULL: it has no vectors.
CREATE FUNCTION pgmnemo._generation(tenant uuid)
RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.generation FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant $$;
