-- End a verb: no session state survives a call.
CREATE FUNCTION pgmnemo._leave()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT set_config('pgmnemo.acting_tenant', '', true) $$;
