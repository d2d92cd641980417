-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE FUNCTION pgmnemo._vector_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    vectors_each constant integer := 4;    -- vectors asked for at first for each lesson wanted
    more_times   constant integer := 8;    -- how many times as many are asked for where they were too few
    graph_most   constant integer := 16;   -- vectors for each lesson wanted up to which the graphs are asked
    all_of_them  constant bigint := 2000000000;
    large boolean;
    most integer := vectors_each * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    ELSIF scope.ids IS NOT NULL THEN
        RETURN pgmnemo._nearest_of(scope, asked.direction, depth);
    END IF;
    -- never below the setting, so what is smaller need not ask
    large := asked.held > s.exact_scan_limit
             AND asked.held > pgmnemo._exact_limit(scope.tenant, s.exact_scan_limit);
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(scope, asked.direction, s.ef_search, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(scope, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM (SELECT * FROM lessons ORDER BY distance OFFSET 0) n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = scope.tenant AND l.id = n.lesson_id AND pgmnemo._recallable(l, scope)
                            OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= graph_most * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * more_times, all_of_them);
    END LOOP;
    RETURN found_ids;
END
$$;
