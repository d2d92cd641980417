-- Begin a verb: check the caller's grant of the tenant, and return the tenant. NULL is the session's.
-- Until pgmnemo._leave the policies show the verb, which runs with its owner's rights, only the rows of this tenant.
CREATE FUNCTION pgmnemo._enter(tenant uuid, caller pgmnemo.caller, access text DEFAULT 'read')
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role name := pgmnemo._verified_role(caller);
    free name;
BEGIN
    tenant := coalesce(tenant, pgmnemo._session_tenant());
    IF NOT pgmnemo._has_grant(role, tenant, access) THEN
        RAISE EXCEPTION 'role % % tenant %', quote_ident(role),
              CASE WHEN pgmnemo._has_grant(role, tenant) THEN 'may only read' ELSE 'has no grant for' END,
              quote_literal(tenant)
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'The owner of the extension grants it with pgmnemo.grant_tenant(tenant, role, access).';
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, tenant);
    END IF;
    SELECT r.rolname INTO free
      FROM pg_roles r WHERE r.rolname IN (role, current_user) AND (r.rolsuper OR r.rolbypassrls)
     ORDER BY r.rolname = role DESC LIMIT 1;
    IF free IS NOT NULL AND coalesce(nullif(current_setting('pgmnemo.bypass_notice', true), ''), 'on') <> 'off' THEN
        RAISE NOTICE 'no row-level security binds role %, % of this call: the verb alone keeps to tenant %',
              quote_ident(free),
              CASE WHEN free = role THEN 'the caller' ELSE 'the extension''s owner and so the one in force' END, tenant
        USING HINT = 'Work as an ordinary role, with an ordinary role as owner; '
                     'SET pgmnemo.bypass_notice = off silences this.';
    END IF;
    PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
    RETURN tenant;
END
$$;
