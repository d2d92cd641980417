-- Projects of the set whose lessons belong in the HNSW index: their scope, these included, is past the exact
-- scan. A tenant is held to ten times a project's limit, so that many small projects stay out of the index.
CREATE FUNCTION pgmnemo._indexed_projects(tenant uuid, lessons pgmnemo.lesson_input[], exact_scan_limit bigint)
RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH held AS (
        SELECT p.project_id, sum(p.lesson_count) AS n
          FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lexeme = '' GROUP BY 1
    ), coming AS (
        SELECT i.project_id, count(*) AS n FROM unnest(lessons) i WHERE i.embedding IS NOT NULL GROUP BY 1
    )
    SELECT coalesce(array_agg(c.project_id), '{}')
      FROM coming c LEFT JOIN held h USING (project_id)
     WHERE c.n + coalesce(h.n, 0) > exact_scan_limit
        OR (SELECT sum(n) FROM held) > 10 * exact_scan_limit
$$;
