-- Bound to the server process and the transaction, so that a proof is worth nothing elsewhere or later.
CREATE FUNCTION pgmnemo._proof(key bytea, role name)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT sha256(key || int4send(pg_backend_pid()) || timestamptz_send(now()) || convert_to(role::text, 'UTF8'))
$$;
