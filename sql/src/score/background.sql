-- The cosine that unrelated texts have with a question: the mean over the first vectors in scope. It differs between
-- embedders, languages and questions. The answer is among them, and of few it lifts the mean: on average it lies about
-- 0.3 of the way from the others to 1, so as much is taken away.
CREATE FUNCTION pgmnemo._background(scope pgmnemo.scope, asked pgmnemo.question)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT avg(v.cosine) - 0.3 * (1 - avg(v.cosine)) / count(*)
      FROM (SELECT pgmnemo._cosine(a.embedding, (asked).direction) AS cosine
              FROM (SELECT v.embedding FROM pgmnemo.lesson_vector v
                     WHERE v.tenant_id = (scope).tenant AND v.generation = (asked).generation
                       AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) <= 1250
                     UNION ALL
                    SELECT v.embedding FROM pgmnemo.lesson_vector v
                     WHERE v.tenant_id = (scope).tenant AND v.generation = (asked).generation
                       AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) > 1250
                     UNION ALL
                    SELECT v.embedding FROM pgmnemo.lesson_vector v
                     WHERE v.tenant_id = (scope).tenant AND v.generation = (asked).generation
                       AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND v.indexed) a
             LIMIT 64) v
    HAVING count(*) > 0
$$;

COMMENT ON FUNCTION pgmnemo._background(pgmnemo.scope, pgmnemo.question) IS 'mean cosine of the question and at most 64 vectors in scope, less 0.3 of what it lacks of 1 divided by their number; NULL without any';
