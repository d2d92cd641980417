-- The cosine that unrelated texts have with a question: the mean over the first lessons in scope, by key, so that equal
-- lessons have equal scores in whatever order they came. It differs between embedders, languages and questions. The
-- answer may be among them, and of few it lifts the mean: on average it lies about 0.3 of the way from the others to
-- 1, so as much is taken away.
CREATE FUNCTION pgmnemo._background(scope pgmnemo.scope, asked pgmnemo.question)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT avg(f.cosine ORDER BY f.cosine) - 0.3 * (1 - avg(f.cosine ORDER BY f.cosine)) / count(*)
      FROM (SELECT pgmnemo._cosine(v.embedding, (asked).direction) AS cosine
              FROM (SELECT l.id, l.active FROM pgmnemo.lesson l
                     WHERE l.tenant_id = (scope).tenant
                       AND l.project_id BETWEEN (scope).first_project AND (scope).last_project
                     ORDER BY l.project_id, l.external_id LIMIT 200) l
             CROSS JOIN LATERAL (
                    SELECT v.embedding FROM pgmnemo.lesson_vector v
                     WHERE v.tenant_id = (scope).tenant AND v.lesson_id = l.id AND v.generation = (asked).generation
                     ORDER BY v.number LIMIT 1) v
             WHERE l.active
             LIMIT 32) f
     WHERE (asked).direction IS NOT NULL
    HAVING count(*) > 0
$$;

COMMENT ON FUNCTION pgmnemo._background(pgmnemo.scope, pgmnemo.question) IS 'mean cosine of the question and at most 32 lessons in scope (of each its first vector), less 0.3 of what it lacks of 1 divided by their number; NULL without any';
