-- Passages that are not as the verbs write them, beside what they should be. Half precision leaves a unit vector
-- at most 0.0005 too long or too short.
CREATE FUNCTION pgmnemo._unsound_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector, norm float8,
               embedding @extschema:vector@.halfvec, indexed boolean, lexemes_differ boolean, vector_differs boolean,
               indexed_differs boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, v.norm, r.embedding, i.indexed,
           p.lexemes IS DISTINCT FROM f.fresh, ARRAY[p.embedding] <> ARRAY[r.embedding], p.indexed <> i.indexed
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (SELECT pgmnemo._config(l.text_config)) AS c (config)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN c.config IS NULL THEN p.lexemes ELSE pgmnemo._lexemes(c.config, p.content) END
            OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (
            SELECT @extschema:vector@.l2_norm(p.embedding),
                   @extschema:vector@.subvector(p.embedding, 1, pgmnemo._width(p.embedding))) AS v (norm, narrow)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN v.norm NOT BETWEEN 0.999 AND 1.001 THEN @extschema:vector@.l2_normalize(v.narrow)
                        ELSE v.narrow END) AS r (embedding)
     CROSS JOIN LATERAL (SELECT p.indexed AND p.embedding IS NOT NULL) AS i (indexed)
     WHERE p.tenant_id = tenant
       AND ((p.project_id, p.lexemes, p.indexed) IS DISTINCT FROM (l.project_id, f.fresh, i.indexed)
            OR ARRAY[p.embedding] <> ARRAY[r.embedding])
$$;
