-- Return the `depth` lessons in scope with the nearest vector, their own or a passage's. The search is exact if the
-- scope is small. In a large scope it goes through the tenant's HNSW index, joined with an exact scan of vectors
-- outside it. Vectors are read first and then lessons, only until there are enough. If too few lessons remain,
-- because of a filter or because many vectors belong to one lesson, more vectors are read, in the end the whole
-- scope, exactly.
CREATE FUNCTION pgmnemo._vector_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    vectors_each constant integer := 4;    -- vectors asked for at first for each lesson wanted
    spare        constant integer := 14;   -- and of a scope where each lesson has one, and none is left out, these more
    more_times   constant integer := 4;    -- how many times as many the index is asked for where they were too few
    hnsw_most   constant integer := 16;   -- vectors for each lesson wanted up to which the index is asked
    all_of_them  constant integer := 2000000000;
    projects     constant uuid[] := (scope.filter).projects;
    direction    constant @extschema:vector@.halfvec := asked.direction;
    hnsw_table text;
    ef_search integer;
    lessons bigint[] := '{}';
    distances float8[];
    most integer := vectors_each * depth;
    seen bigint;
    farthest float8;
    farthest_found float8;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL OR asked.generation IS NULL THEN
        RETURN '{}';
    ELSIF scope.ids IS NOT NULL THEN
        RETURN pgmnemo._nearest_of_ids(scope, asked, depth);
    END IF;
    IF asked.hnsw_table IS NOT NULL THEN
        SELECT g.hnsw_table, g.ef_search INTO hnsw_table, ef_search
          FROM pgmnemo._hnsw_for_scope(scope, asked, depth, s) g;
    END IF;
    IF scope.plain AND NOT EXISTS (SELECT FROM pgmnemo.passage p WHERE p.tenant_id = scope.tenant) THEN
        most := depth + spare;
    END IF;
    LOOP
        IF hnsw_table IS NOT NULL THEN
            SELECT * INTO lessons, distances
              FROM pgmnemo._hnsw_rows(hnsw_table, scope, direction, ef_search, most);
            IF lessons IS NULL THEN
                hnsw_table := NULL;
                lessons := '{}';
            END IF;
        END IF;
        WITH near AS MATERIALIZED (
            SELECT v.*
              FROM pgmnemo._scanned_vectors(scope, projects, asked.generation, direction, hnsw_table IS NULL, most) v
        )
        SELECT (SELECT count(*) FROM near) + cardinality(lessons), (SELECT max(n.distance) FROM near n),
               array_agg(f.lesson_id), max(f.distance)
          INTO seen, farthest, found_ids, farthest_found
          FROM (SELECT n.lesson_id, n.distance
                  FROM (SELECT n.lesson_id, min(n.distance) AS distance
                          FROM (SELECT * FROM near UNION ALL SELECT * FROM unnest(lessons, distances)) n
                         GROUP BY n.lesson_id ORDER BY distance OFFSET 0) n
                 CROSS JOIN LATERAL (
                        SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = n.lesson_id AND pgmnemo._recallable(l, scope)
                        OFFSET 0) l
                 ORDER BY n.distance, l.external_id, l.project_id
                 LIMIT depth) f;
        EXIT WHEN CASE WHEN hnsw_table IS NOT NULL THEN cardinality(found_ids) >= depth
                       ELSE seen < most OR cardinality(found_ids) >= depth AND farthest_found < farthest END;
        IF hnsw_table IS NULL OR most >= hnsw_most * depth OR seen < most THEN
            hnsw_table := NULL;
            lessons := '{}';
            most := all_of_them;
        ELSE
            most := most * more_times;
        END IF;
    END LOOP;
    RETURN coalesce(found_ids, '{}');
END
$$;
