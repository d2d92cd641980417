-- Return the language of texts that a tenant's writers store without a language; read once in a statement.
CREATE FUNCTION pgmnemo._tenant_language(tenant uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT t.language FROM pgmnemo.tenant t WHERE t.tenant_id = tenant), 'auto');
END
$$;
