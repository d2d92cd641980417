-- Write vectors of a new embedder, but not for texts that have changed: changes of texts wait for the tenant, and
-- its written row makes changes under an older snapshot fail. If the snapshot of this call is older, the locks on
-- lessons fail.
CREATE FUNCTION pgmnemo.reembed(
    tenant     uuid,
    lesson_ids bigint[],
    numbers    smallint[],
    embeddings @extschema:vector@.vector[],
    marks      bigint[],
    embedder   text DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    space pgmnemo.embedding_space;
    written bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    SELECT s.* INTO space
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL FOR KEY SHARE;
    IF space.next_embedder <> reembed.embedder COLLATE "default" THEN
        RAISE EXCEPTION 'the new vectors of tenant % are by %, and not by %', quote_literal(tenant),
              quote_literal(space.next_embedder), quote_literal(reembed.embedder)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Somebody else has begun another change.';
    END IF;
    PERFORM pgmnemo._check_reembedded(tenant, space, lesson_ids, numbers, embeddings, marks);
    PERFORM pgmnemo._write_tenant(tenant);
    PERFORM FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (lesson_ids) ORDER BY l.id FOR SHARE;
    INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding)
    SELECT tenant, space.next_generation, v.project_id, v.lesson_id, v.number,
           pgmnemo._stored_vector(g.embedding, space.next_dimensions)
      FROM unnest(lesson_ids, numbers, embeddings, marks) AS g (lesson_id, number, embedding, mark)
     CROSS JOIN LATERAL (
            SELECT v.lesson_id, v.number, v.project_id FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.lesson_id = g.lesson_id AND v.generation = space.generation
               AND v.number = g.number OFFSET 0) v
     CROSS JOIN LATERAL (
            SELECT l.content FROM pgmnemo.lesson l
             WHERE v.number = 0 AND l.tenant_id = tenant AND l.id = v.lesson_id
             UNION ALL
            SELECT p.content FROM pgmnemo.passage p
             WHERE v.number > 0 AND p.tenant_id = tenant AND p.lesson_id = v.lesson_id AND p.number = v.number
            OFFSET 0) t
     WHERE pgmnemo._text_hash(t.content) = g.mark
        ON CONFLICT (tenant_id, lesson_id, generation, number) DO UPDATE
       SET project_id = EXCLUDED.project_id, indexed = false, embedding = EXCLUDED.embedding;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF EXISTS (SELECT FROM pgmnemo.hnsw_index g
                WHERE g.tenant_id = tenant AND g.generation = space.generation) THEN
        PERFORM pgmnemo._hnsw_register(tenant, space.next_generation);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN written;
END
$$;

COMMENT ON FUNCTION pgmnemo.reembed IS 'stores vectors of the new embedder of texts that pgmnemo.reembedding_due gave, at most 10,000 of them, with their marks, in the place of any that were stored before; what has another text by now, or is gone, is passed over; with embedder only if that is the new one. Returns how many were stored. Writers of changes wait meanwhile, readers do not. tenant NULL: the session''s. Errors: no change is going on (55000), vectors of another dimension, or what no lesson could be stored with (22023)';
