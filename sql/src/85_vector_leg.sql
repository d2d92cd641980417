-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE FUNCTION pgmnemo._vector_leg(tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, depth integer,
                                    s jsonb, asked_role text, valid_time timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    large boolean := asked.held > pgmnemo._exact_limit((s ->> 'exact_scan_limit')::float8);
    most integer := 4 * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    END IF;
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(tenant, first_project, last_project, asked.direction,
                                              (s ->> 'ef_search')::float8::integer, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(tenant, first_project, last_project, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM lessons n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = tenant AND l.id = n.lesson_id
                               AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= 16 * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * 8, 2000000000);
    END LOOP;
    RETURN found_ids;
END
$$;
