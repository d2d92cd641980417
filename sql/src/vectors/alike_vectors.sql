-- Pairs of a lesson of `ids` and an older one in scope whose vectors as a whole have at least this cosine. Exact: the
-- scope is read once, and each vector is compared with all of `ids`.
CREATE FUNCTION pgmnemo._alike_vectors(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    told_most constant integer := 50;  -- older lessons for one
    lessons   bigint[];
    widths    smallint[];
    vectors   @extschema:vector@.halfvec[];
    last      constant bigint := (SELECT max(i) FROM unnest(ids) i);
BEGIN
    SELECT array_agg(p.lesson_id), array_agg(p.width), array_agg(p.embedding) INTO lessons, widths, vectors
      FROM unnest(ids) AS u (id)
     CROSS JOIN LATERAL (SELECT p.* FROM pgmnemo.passage p
                          WHERE p.tenant_id = scope.tenant AND p.lesson_id = u.id AND p.number = 0
                            AND p.embedding IS NOT NULL OFFSET 0) p;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.older, r.newer
      FROM (SELECT o.lesson_id AS older, n.newer,
                   row_number() OVER (PARTITION BY n.newer ORDER BY n.cosine DESC, o.lesson_id DESC) AS place
              FROM pgmnemo.passage o
             CROSS JOIN LATERAL (
                    SELECT v.id AS newer, -(v.vector OPERATOR(@extschema:vector@.<#>) o.embedding) AS cosine
                      FROM unnest(lessons, widths, vectors) AS v (id, width, vector)
                     WHERE v.id > o.lesson_id AND v.width = o.width OFFSET 0) n
             WHERE o.tenant_id = scope.tenant AND o.embedding IS NOT NULL AND o.number = 0 AND o.lesson_id < last
               AND o.project_id BETWEEN scope.first_project AND scope.last_project AND n.cosine >= at_least) r
     WHERE r.place <= told_most;
END
$$;
