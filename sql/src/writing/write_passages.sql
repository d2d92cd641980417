-- The vectors and passages of these lessons of one tenant, as the set gives them. A lesson whose passages the set
-- leaves open keeps those that it has. Vectors of `large` projects enter the HNSW index.
CREATE FUNCTION pgmnemo._write_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[], large uuid[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, indexed, width, content, lexemes, embedding)
    SELECT tenant, l.project_id, l.id, w.number, w.embedding IS NOT NULL AND l.project_id = ANY (large),
           @extschema:vector@.vector_dims(w.embedding), w.content, u.lexemes, w.embedding
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL (
            SELECT 0, NULL, pgmnemo._narrowed(i.embedding) WHERE i.embedding IS NOT NULL
             UNION ALL
            SELECT p.number, p.content, pgmnemo._narrowed(i.passage_embeddings[p.number])
              FROM unnest(i.passages) WITH ORDINALITY AS p (content, number)) AS w (number, content, embedding)
     CROSS JOIN LATERAL (SELECT pgmnemo._lexemes(pgmnemo._config(l.text_config), w.content) OFFSET 0) AS u (lexemes)
     WHERE l.id = ANY (ids)
$$;
