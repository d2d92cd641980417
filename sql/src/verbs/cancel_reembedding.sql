CREATE FUNCTION pgmnemo.cancel_reembedding(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    space := pgmnemo._lock_changed_space(tenant);
    IF space.next_generation IS NULL THEN
        PERFORM pgmnemo._leave();
        RETURN false;
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET next_generation = NULL, next_dimensions = NULL, next_embedder = NULL
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._drop_generation(tenant, space.next_generation);
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.cancel_reembedding IS 'gives a change of embedder up: the old vectors serve on, those of the new one are deleted; false: none was going on. tenant NULL: the session''s';
