-- Policies read it, so a forged setting shows no rows; verbs call pgmnemo._tenant, which says why.
CREATE FUNCTION pgmnemo.current_tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := current_setting('pgmnemo.tenant_id', true);
BEGIN
    IF asked IS NULL OR NOT pg_input_is_valid(asked, 'uuid') THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT g.tenant_id
              FROM pgmnemo.tenant_grant g
             WHERE g.tenant_id = asked::uuid AND pg_has_role(to_regrole(quote_ident(g.grantee)), 'USAGE')
             LIMIT 1);
END
$$;

COMMENT ON FUNCTION pgmnemo.current_tenant() IS 'the tenant that pgmnemo.tenant_id names if a grant of it reaches the current role; else NULL';
