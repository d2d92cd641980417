-- Return pairs of a lesson of `ids` and an older lesson in scope with at least this cosine between their lesson
-- vectors. Exact: the scope is read once, and each vector is compared with all of `ids`.
CREATE FUNCTION pgmnemo._similar_by_vectors(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    told_most constant integer := 50;  -- older lessons for one
    lessons   bigint[];
    serving   constant smallint := pgmnemo._generation(scope.tenant);
    vectors   @extschema:vector@.halfvec[];
    last      constant bigint := (SELECT max(i) FROM unnest(ids) i);
BEGIN
    SELECT array_agg(v.lesson_id), array_agg(v.embedding) INTO lessons, vectors
      FROM unnest(ids) AS u (id)
     CROSS JOIN LATERAL (SELECT v.lesson_id, v.embedding FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = scope.tenant AND v.lesson_id = u.id AND v.generation = serving
                            AND v.number = 0 OFFSET 0) v;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.older, r.newer
      FROM (SELECT o.lesson_id AS older, n.newer,
                   row_number() OVER (PARTITION BY n.newer ORDER BY n.cosine DESC, o.lesson_id DESC) AS place
              FROM pgmnemo.lesson_vector o
             CROSS JOIN LATERAL (
                    SELECT v.id AS newer, -(v.vector OPERATOR(@extschema:vector@.<#>) o.embedding) AS cosine
                      FROM unnest(lessons, vectors) AS v (id, vector)
                     WHERE v.id > o.lesson_id OFFSET 0) n
             WHERE o.tenant_id = scope.tenant AND o.generation = serving AND o.number = 0 AND o.lesson_id < last
               AND o.project_id BETWEEN scope.first_project AND scope.last_project AND n.cosine >= at_least) r
     WHERE r.place <= told_most;
END
$$;
