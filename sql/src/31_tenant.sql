CREATE FUNCTION pgmnemo._tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo.current_tenant();
    asked text := coalesce(current_setting('pgmnemo.tenant_id', true), '');
BEGIN
    IF tenant IS NOT NULL THEN
        RETURN tenant;
    ELSIF asked = '' THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is not set'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    ELSIF NOT pg_input_is_valid(asked, 'uuid') THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is %, but must be a uuid', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    END IF;
    RAISE EXCEPTION 'role % has no grant for tenant %', quote_ident(current_user), quote_literal(asked)
    USING ERRCODE = 'insufficient_privilege',
          HINT = 'The owner of the extension grants it with pgmnemo.grant_tenant(tenant, role).';
END
$$;
