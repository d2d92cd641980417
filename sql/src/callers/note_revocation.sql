-- Note that this transaction takes a right away. One at a time, so that the transaction of the last revocation shows
-- whether any came after a snapshot.
CREATE FUNCTION pgmnemo._note_revocation()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE pgmnemo.tenant_grant IN SHARE ROW EXCLUSIVE MODE;
    PERFORM setval('pgmnemo.revocation_seq', pg_current_xact_id()::text::bigint);
END
$$;
