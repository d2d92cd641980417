CREATE FUNCTION pgmnemo.current_tenant(caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role name := pgmnemo._verified_role(caller);
    asked text := current_setting('pgmnemo.tenant_id', true);
BEGIN
    IF asked IS NULL OR NOT pg_input_is_valid(asked, 'uuid')
       OR NOT pgmnemo._has_grant(role, asked::uuid) THEN
        RETURN NULL;
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, asked::uuid);
    END IF;
    RETURN asked::uuid;
END
$$;

COMMENT ON FUNCTION pgmnemo.current_tenant IS 'the tenant that pgmnemo.tenant_id names if a grant of it reaches the current role; else NULL';
