-- Return the HNSW table to search a scope with, and its ef_search; NULL: few vectors in scope, which are scanned
-- exactly. The estimate is the number of lessons times the vectors per lesson of the first lessons. An HNSW search
-- meets the vectors of a project the later the smaller its part: so the limit grows with the square root of the vectors
-- in the index, from 100,000 on (by the planner's count).
CREATE FUNCTION pgmnemo._hnsw_for_scope(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings,
                                        OUT hnsw_table text, OUT ef_search integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sample constant integer := 200;
    each float8;
    inside float8;
BEGIN
    SELECT c.reltuples INTO inside FROM pg_class c
     WHERE c.oid = to_regclass('pgmnemo.' || quote_ident(asked.hnsw_table))
       AND pgmnemo._hnsw_table_exists(asked.hnsw_table)
       AND pgmnemo._hnsw_is_safe();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT count(*)::float8 / greatest(count(DISTINCT v.lesson_id), 1) INTO each
      FROM (SELECT v.lesson_id FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = scope.tenant AND v.generation = asked.generation AND v.indexed
               AND v.project_id BETWEEN scope.first_project AND scope.last_project LIMIT sample) v;
    IF asked.held * greatest(each, 1) > s.hnsw_min_vectors * sqrt(greatest(1, inside / 100000)) THEN
        hnsw_table := asked.hnsw_table;
        ef_search := CASE WHEN s.ef_search > 0 THEN s.ef_search
                          ELSE pgmnemo._ef_search(greatest(inside, asked.held * each), depth, s.vector_recall) END;
    END IF;
END
$$;
