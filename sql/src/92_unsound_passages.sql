-- Passages that are not as the verbs write them, beside what they should be. Half precision leaves a unit vector
-- at most 0.0005 too long or too short.
CREATE FUNCTION pgmnemo._unsound_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector, norm float8,
               embedding halfvec, indexed boolean, lexemes_differ boolean, vector_differs boolean, indexed_differs boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, v.norm, r.embedding, i.indexed,
           p.lexemes IS DISTINCT FROM f.fresh, p.embedding IS DISTINCT FROM r.embedding, p.indexed <> i.indexed
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (
            SELECT CASE WHEN pg_input_is_valid(l.text_config, 'regconfig')
                        THEN pgmnemo._lexemes(l.text_config::regconfig, p.content) ELSE p.lexemes END OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (
            SELECT l2_norm(p.embedding),
                   CASE WHEN p.width = 384 THEN 384
                        WHEN l2_norm(subvector(p.embedding, 385, p.width - 384)) = 0 THEN 384
                        WHEN p.width = 768 THEN 768
                        WHEN l2_norm(subvector(p.embedding, 769, 256)) = 0 THEN 768
                        ELSE 1024 END) AS v (norm, width)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN v.norm NOT BETWEEN 0.999 AND 1.001 THEN l2_normalize(subvector(p.embedding, 1, v.width))
                        ELSE subvector(p.embedding, 1, v.width) END) AS r (embedding)
     CROSS JOIN LATERAL (SELECT p.indexed AND p.embedding IS NOT NULL) AS i (indexed)
     WHERE p.tenant_id = tenant
       AND (p.project_id, p.lexemes, p.embedding, p.indexed)
           IS DISTINCT FROM (l.project_id, f.fresh, r.embedding, i.indexed)
$$;
