-- How many lessons a scope may hold and still be read exactly. In a graph shared by many, a scope's own vectors are
-- met the later the smaller its part of it: so the limit grows with the square root of what the graphs hold, from
-- 100,000 vectors on (by the planner's count of them). Where no graph
-- serves the tenant, no limit.
CREATE FUNCTION pgmnemo._exact_limit(tenant uuid, exact_scan_limit float8)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(*) < 3 OR NOT pgmnemo._graph_open(tenant) THEN 'Infinity'
                ELSE exact_scan_limit * sqrt(greatest(1, sum(greatest(c.reltuples, 0)) / 100000)) END
      FROM pg_class c
     WHERE c.oid IN (to_regclass('pgmnemo.passage_hnsw_384'), to_regclass('pgmnemo.passage_hnsw_768'),
                     to_regclass('pgmnemo.passage_hnsw_1024'))
$$;
