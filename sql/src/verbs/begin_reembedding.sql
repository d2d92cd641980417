CREATE FUNCTION pgmnemo.begin_reembedding(
    tenant     uuid,
    dimensions integer,
    embedder   text DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told text COLLATE "default" := begin_reembedding.embedder;
    space pgmnemo.embedding_space;
    due bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    IF begin_reembedding.dimensions IS NULL THEN
        RAISE EXCEPTION 'dimensions is NULL, but must be from 1 to 4000'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Say of how many dimensions the new vectors will be.';
    END IF;
    PERFORM pgmnemo._check_embedder(told, begin_reembedding.dimensions);
    SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tenant % has no vectors', quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Its first may be of any embedder: store it.';
    ELSIF space.next_dimensions <> begin_reembedding.dimensions OR space.next_embedder <> told THEN
        RAISE EXCEPTION 'the embedder of tenant % is being changed already, for % dimensions%', quote_literal(tenant),
              space.next_dimensions, coalesce(' by ' || quote_literal(space.next_embedder), '')
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Go on with that one, or call pgmnemo.cancel_reembedding first.';
    ELSIF space.next_generation IS NULL THEN
        space.next_generation := space.generation % 32767 + 1;
        PERFORM pgmnemo._drop_generation(tenant, space.next_generation);
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET next_generation = space.next_generation, next_dimensions = begin_reembedding.dimensions,
           next_embedder = coalesce(told, s.next_embedder)
     WHERE s.tenant_id = tenant;
    due := (SELECT count(*) FROM pgmnemo._texts_to_reembed(space, 0, NULL));
    PERFORM pgmnemo._leave();
    RETURN due;
END
$$;

COMMENT ON FUNCTION pgmnemo.begin_reembedding IS 'begins to change the embedder of a tenant''s vectors, or goes on with it: the new ones will have so many dimensions (1 to 4,000). The old ones serve, and are stored, until pgmnemo.finish_reembedding. Take what is due from pgmnemo.reembedding_due, embed it, give it to pgmnemo.reembed. Returns how many texts are due. Refused for another embedder or dimension than the change that is going on. tenant NULL: the session''s';
