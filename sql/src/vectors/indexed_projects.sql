-- Projects of the set whose lessons belong in the HNSW index: their scope, these included, is past the exact
-- scan. A tenant is held to ten times a project's limit, so that many small projects stay out of the index.
CREATE FUNCTION pgmnemo._indexed_projects(tenant uuid, lessons pgmnemo.lesson_input[], exact_scan_limit bigint)
RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(c.project_id), '{}')
      FROM (SELECT i.project_id, count(*) AS n FROM unnest(lessons) i WHERE i.embedding IS NOT NULL GROUP BY 1) c
     WHERE (pgmnemo._holds_more(tenant, c.project_id, c.project_id, exact_scan_limit - c.n)
            OR pgmnemo._holds_more(tenant, '00000000-0000-0000-0000-000000000000',
                                   'ffffffff-ffff-ffff-ffff-ffffffffffff',
                                   10 * exact_scan_limit))
$$;
