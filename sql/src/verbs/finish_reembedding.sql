CREATE FUNCTION pgmnemo.finish_reembedding(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
    due bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    space := pgmnemo._lock_changed_space(tenant);
    IF space.next_generation IS NULL THEN
        PERFORM pgmnemo._leave();
        RETURN false;
    END IF;
    due := (SELECT count(*) FROM pgmnemo._texts_to_reembed(space, 0, NULL));
    IF due > 0 THEN
        RAISE EXCEPTION '% texts of tenant % lack a vector of the new embedder', due, quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Go on: embed what pgmnemo.reembedding_due returns, and give it to pgmnemo.reembed.';
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET generation = s.next_generation, dimensions = s.next_dimensions, embedder = s.next_embedder,
           next_generation = NULL, next_dimensions = NULL, next_embedder = NULL
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._drop_generation(tenant, space.generation);
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.finish_reembedding IS 'lets the vectors of the new embedder serve, and deletes the old ones; false: no change is going on. Refused while a text lacks one (55000). Who stores vectors waits until the transaction ends, readers never. For a tenant with more than pgmnemo.hnsw_min_vectors vectors call pgmnemo.index before, so that there is an HNSW index of the new ones already. tenant NULL: the session''s';
