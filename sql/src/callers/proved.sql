-- The role that calls; an error for a caller whose proof is none.
CREATE FUNCTION pgmnemo._proved(caller pgmnemo.caller)
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (caller.proof = (SELECT pgmnemo._proof(k.key, caller.name) FROM pgmnemo.caller_key k)) IS NOT TRUE THEN
        RAISE EXCEPTION 'the argument caller does not prove that role % calls',
              coalesce(quote_ident(caller.name), 'NULL')
        USING ERRCODE = 'insufficient_privilege', HINT = 'Leave it out: its default names whoever calls.';
    END IF;
    RETURN caller.name;
END
$$;
