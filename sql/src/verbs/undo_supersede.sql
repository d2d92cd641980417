CREATE FUNCTION pgmnemo.undo_supersede(tenant uuid, project_id uuid, old text,
                                       caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    undone bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._write_tenant(tenant);
    undone := pgmnemo._undo_supersede(
        tenant, ARRAY[pgmnemo._lesson_id(tenant, project_id, undo_supersede.old COLLATE "default")]);
    PERFORM pgmnemo._leave();
    RETURN undone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.undo_supersede IS 'takes back that the lesson old is superseded, so that it holds again; known_at still knows that it was. Returns whether it was superseded. tenant NULL: the session''s';
