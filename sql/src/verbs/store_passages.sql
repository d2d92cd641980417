-- Write the first passages of a lesson, and its row, so that a concurrent change of its text meets a conflict at any
-- isolation level.
CREATE FUNCTION pgmnemo.store_passages(
    tenant             uuid,
    lesson_id          bigint,
    passages           text[],
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    caller             pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := coalesce(pgmnemo._size_problem(NULL, NULL, NULL, NULL, NULL, NULL, passages),
                             pgmnemo._passages_problem(passages, passage_embeddings));
    one pgmnemo.lesson_input;
    space pgmnemo.embedding_space;
    bare boolean;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    IF problem IS NOT NULL OR coalesce(cardinality(passages), 0) = 0 THEN
        RAISE EXCEPTION 'lesson % %', store_passages.lesson_id, coalesce(problem, 'is given no passages')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE pgmnemo.lesson l SET metadata = l.metadata WHERE l.tenant_id = tenant AND l.id = store_passages.lesson_id
    RETURNING l.project_id, l.external_id INTO one.project_id, one.external_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no lesson %', store_passages.lesson_id USING ERRCODE = 'no_data_found';
    END IF;
    bare := NOT EXISTS (SELECT FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = store_passages.lesson_id);
    IF bare THEN
        one.passages := passages;
        one.passage_embeddings := passage_embeddings;
        space := pgmnemo._lock_space(tenant, ARRAY[one]);
        PERFORM pgmnemo._write_passages(tenant, ARRAY[store_passages.lesson_id], ARRAY[one], space);
        IF space.generation IS NOT NULL THEN
            PERFORM pgmnemo._hnsw_share_inserts(tenant, space.generation, 1, (pgmnemo._settings()).hnsw_min_vectors);
        END IF;
    END IF;
    PERFORM pgmnemo._leave();
    RETURN bare;
END
$$;

COMMENT ON FUNCTION pgmnemo.store_passages IS 'gives a lesson that has no passages these, with a vector of the tenant''s dimension for each or none; returns false, and changes nothing, where it has some';
