-- Undo the supersessions of these lessons and return their number; the tenant is locked.
CREATE FUNCTION pgmnemo._undo_supersede(tenant uuid, old bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    undone bigint;
BEGIN
    UPDATE pgmnemo.lesson l SET superseded_at = NULL
     WHERE l.tenant_id = tenant AND l.id = ANY (old) AND l.superseded_at IS NOT NULL;
    GET DIAGNOSTICS undone = ROW_COUNT;
    UPDATE pgmnemo.supersession x SET undone_at = clock_timestamp()
     WHERE x.tenant_id = tenant AND x.old_id = ANY (old) AND x.undone_at IS NULL;
    RETURN undone;
END
$$;
