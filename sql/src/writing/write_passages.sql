-- Write the passages and vectors of these lessons of a tenant, as the set gives them. A lesson without passages in the
-- set keeps its own. Vectors stay out of the HNSW index until pgmnemo._hnsw_insert inserts them; or they are `marked`
-- as indexed in an index that is not built yet.
CREATE FUNCTION pgmnemo._write_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[],
                                        space pgmnemo.embedding_space, marked boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(lessons) = 1 AND cardinality(ids) = 1 THEN
        IF (lessons[1]).embedding IS NOT NULL AND space.dimensions IS NOT NULL THEN
            INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, indexed, embedding)
            VALUES (tenant, space.generation, (lessons[1]).project_id, ids[1], 0, marked,
                    pgmnemo._stored_vector((lessons[1]).embedding, space.dimensions));
        END IF;
        IF (lessons[1]).passages IS NOT NULL THEN
            PERFORM pgmnemo._write_lesson_passages(tenant, ids[1], lessons[1], space);
        END IF;
        RETURN;
    END IF;
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, content, lexemes)
    SELECT tenant, l.project_id, l.id, p.number, p.content, u.lexemes
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL unnest(i.passages) WITH ORDINALITY AS p (content, number)
     CROSS JOIN LATERAL (SELECT pgmnemo._lexemes(pgmnemo._config(l.text_config), p.content) OFFSET 0) AS u (lexemes)
     WHERE l.id = ANY (ids);
    INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, indexed, embedding)
    SELECT tenant, space.generation, l.project_id, l.id, v.number, marked,
           pgmnemo._stored_vector(v.vector, space.dimensions)
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL (
            SELECT 0, i.embedding
             UNION ALL
            SELECT p.number, p.vector FROM unnest(i.passage_embeddings) WITH ORDINALITY AS p (vector, number)
             WHERE i.passages IS NOT NULL) AS v (number, vector)
     WHERE l.id = ANY (ids) AND v.vector IS NOT NULL AND space.dimensions IS NOT NULL;
END
$$;
