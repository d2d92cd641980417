-- Return the calling role; raise an error if its proof is wrong. The proof is computed as in pgmnemo.calling.
CREATE FUNCTION pgmnemo._verified_role(caller pgmnemo.caller)
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    proof bytea := (SELECT sha256(k.key || int4send(pg_backend_pid()) || timestamptz_send(now())
                                  || convert_to(caller.name::text, 'UTF8'))
                      FROM pgmnemo.caller_key k);
BEGIN
    IF NOT coalesce(caller.proof = proof, false) THEN
        RAISE EXCEPTION 'the argument caller does not prove that role % calls',
              coalesce(quote_ident(caller.name), 'NULL')
        USING ERRCODE = 'insufficient_privilege', HINT = 'Leave it out: its default names whoever calls.';
    END IF;
    RETURN caller.name;
END
$$;
