-- End a verb: reset the acting tenant, so that no session state survives the call.
CREATE FUNCTION pgmnemo._leave()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT set_config('pgmnemo.acting_tenant', '', true) $$;
