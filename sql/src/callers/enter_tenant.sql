-- Begin a verb with an optional tenant, and return the tenant. NULL selects the session's tenant.
CREATE FUNCTION pgmnemo._enter_tenant(tenant uuid, caller pgmnemo.caller)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    named uuid := coalesce(tenant, pgmnemo._session_tenant());
BEGIN
    PERFORM pgmnemo._enter(named, caller);
    RETURN named;
END
$$;
