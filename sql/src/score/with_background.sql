-- Return the question with what unrelated lessons share with it and with each other, taken from the first lessons in
-- scope by key, so that equal lessons have equal scores in any order of arrival. `center` is the mean cosine of these
-- lessons and the question: it differs between embedders, languages and questions. The answer may be among them, and
-- lifts the mean of a few: it lies about 0.3 of the way from the others to 1 on average, so as much is subtracted.
-- `common` is the direction of their mean vector and `commonness` its length; both are NULL for a question without
-- words, because its lessons must rank by their cosines.
CREATE FUNCTION pgmnemo._with_background(scope pgmnemo.scope, asked pgmnemo.question)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mean @extschema:vector@.halfvec;
BEGIN
    IF asked.direction IS NOT NULL THEN
        SELECT avg(f.cosine) - 0.3 * (1 - avg(f.cosine)) / nullif(count(*), 0),
               @extschema:vector@.avg(f.embedding)
          INTO asked.center, mean
          FROM (SELECT v.embedding, pgmnemo._cosine(v.embedding, asked.direction) AS cosine
                  FROM (SELECT l.id, l.active FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant
                           AND l.project_id BETWEEN scope.first_project AND scope.last_project
                         ORDER BY l.project_id, l.external_id LIMIT 100) l
                 CROSS JOIN LATERAL (
                        SELECT v.embedding FROM pgmnemo.lesson_vector v
                         WHERE v.tenant_id = scope.tenant AND v.lesson_id = l.id AND v.generation = asked.generation
                         ORDER BY v.number LIMIT 1) v
                 WHERE l.active
                 LIMIT 16) f;
        IF asked.reach > 0 THEN
            asked.common := @extschema:vector@.l2_normalize(mean);
            asked.commonness := @extschema:vector@.l2_norm(mean);
        END IF;
    END IF;
    RETURN asked;
END
$$;

COMMENT ON FUNCTION pgmnemo._with_background(pgmnemo.scope, pgmnemo.question) IS 'asked with center, common and commonness of at most 16 lessons in scope (of each its first vector); NULL without any, common and commonness also without a word';
