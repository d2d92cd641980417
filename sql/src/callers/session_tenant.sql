-- Return the session's tenant, for verbs that are given none. The verb itself checks the caller's grant.
CREATE FUNCTION pgmnemo._session_tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(current_setting('pgmnemo.tenant_id', true), '');
BEGIN
    IF asked = '' THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is not set'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Name the tenant in the call, or SET pgmnemo.tenant_id to its uuid.';
    ELSIF NOT pg_input_is_valid(asked, 'uuid') THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is %, but must be a uuid', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    END IF;
    RETURN asked::uuid;
END
$$;
