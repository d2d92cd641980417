-- The default of the verbs' last argument: PostgreSQL evaluates it with the rights of whoever calls.
CREATE FUNCTION pgmnemo._caller()
RETURNS pgmnemo.caller
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ROW(c.name, c.proof)::pgmnemo.caller FROM pgmnemo.calling c $$;
