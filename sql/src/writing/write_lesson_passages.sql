-- Write one lesson's passages as pgmnemo._write_passages does, without its own vector: plans ignore their number.
CREATE FUNCTION pgmnemo._write_lesson_passages(tenant uuid, lesson bigint, given pgmnemo.lesson_input,
                                               space pgmnemo.embedding_space)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, content, lexemes)
    SELECT tenant, l.project_id, l.id, p.number, p.content, pgmnemo._lexemes(pgmnemo._config(l.text_config), p.content)
      FROM pgmnemo.lesson l CROSS JOIN LATERAL unnest(given.passages) WITH ORDINALITY AS p (content, number)
     WHERE l.tenant_id = tenant AND l.id = lesson;
    IF given.passage_embeddings IS NOT NULL AND space.dimensions IS NOT NULL THEN
        INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding)
        SELECT tenant, space.generation, given.project_id, lesson, p.number,
               pgmnemo._stored_vector(p.vector, space.dimensions)
          FROM unnest(given.passage_embeddings) WITH ORDINALITY AS p (vector, number)
         WHERE p.vector IS NOT NULL;
    END IF;
END
$$;
