-- The same through the HNSW index, joined with an exact scan of the lessons written before their scope grew
-- large. Dynamic, so that the planner sees the limit and the scope: a generic plan may ignore the index.
CREATE FUNCTION pgmnemo._nearest_indexed(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer,
                                         wanted_role text, valid_at timestamptz, gate text, ef_search integer)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    ef_before text := current_setting('hnsw.ef_search', true);
    iterative_before text := current_setting('hnsw.iterative_scan', true);
BEGIN
    PERFORM set_config('hnsw.ef_search', ef_search::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE
        'WITH graph AS MATERIALIZED (
             SELECT l.id, l.external_id, l.project_id, l.embedding <=> $4 AS distance
               FROM pgmnemo.lesson l
              WHERE l.indexed AND l.tenant_id = $1 AND l.project_id BETWEEN $2 AND $3
                AND pgmnemo._recallable(l, $6, $7, $8)
              ORDER BY l.embedding <=> $4
              LIMIT $5
         ), rest AS (
             SELECT l.id, l.external_id, l.project_id, l.embedding <=> $4 AS distance
               FROM pgmnemo.lesson l
              WHERE NOT l.indexed AND l.tenant_id = $1 AND l.project_id BETWEEN $2 AND $3
                AND l.embedding IS NOT NULL AND pgmnemo._recallable(l, $6, $7, $8)
         )
         SELECT n.id
           FROM (SELECT * FROM graph UNION ALL SELECT * FROM rest) n
          ORDER BY n.distance, n.external_id, n.project_id
          LIMIT $5'
        USING tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate;
    PERFORM set_config('hnsw.ef_search', ef_before, true), set_config('hnsw.iterative_scan', iterative_before, true);
END
$$;
