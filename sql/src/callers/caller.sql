-- Return the default of the verbs' last argument: PostgreSQL evaluates it with the caller's rights.
CREATE FUNCTION pgmnemo._caller()
RETURNS pgmnemo.caller
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT ROW(c.name, c.proof)::pgmnemo.caller FROM pgmnemo.calling c);
END
$$;
