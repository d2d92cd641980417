CREATE FUNCTION pgmnemo.set_embedder(
    tenant     uuid,
    name       text,
    dimensions integer DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told text COLLATE "default" := set_embedder.name;
    space pgmnemo.embedding_space;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_embedder(coalesce(told, ''), set_embedder.dimensions);
    LOOP
        SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        IF set_embedder.dimensions IS NULL THEN
            RAISE EXCEPTION 'tenant % has no vectors', quote_literal(tenant)
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Say of which dimension they will be.';
        END IF;
        INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
        VALUES (tenant, 1, set_embedder.dimensions) ON CONFLICT DO NOTHING;
    END LOOP;
    IF space.dimensions <> set_embedder.dimensions OR space.embedder <> told THEN
        RAISE EXCEPTION 'the vectors of tenant % are of % dimensions, by %, and not of %, by %', quote_literal(tenant),
              space.dimensions, coalesce(quote_literal(space.embedder), 'nobody said whom'),
              coalesce(set_embedder.dimensions, space.dimensions), quote_literal(told)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Embed with that one, or change it with pgmnemo.begin_reembedding.';
    END IF;
    UPDATE pgmnemo.embedding_space s SET embedder = told WHERE s.tenant_id = tenant AND s.embedder IS NULL;
    PERFORM pgmnemo._leave();
    RETURN space.embedder IS NULL;
END
$$;

COMMENT ON FUNCTION pgmnemo.set_embedder IS 'notes what the tenant''s vectors are made by, and of a tenant without any of which dimension they will be; false: it was noted. The engine compares names alone. Refused where another embedder or dimension is noted. tenant NULL: the session''s';
