-- Check a tenant's HNSW index against the vectors marked as indexed. An index dropped since this snapshot is no
-- problem.
CREATE FUNCTION pgmnemo._hnsw_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT v.generation, g.name, count(*) AS marked,
                      coalesce(pgmnemo._hnsw_table_exists(g.name), false) AS stands
                 FROM pgmnemo.lesson_vector v
                 LEFT JOIN pgmnemo.hnsw_index g ON g.tenant_id = tenant AND g.generation = v.generation
                WHERE v.tenant_id = tenant AND v.indexed AND g.built IS NOT FALSE GROUP BY v.generation, g.name
                UNION ALL
               SELECT g.generation, g.name, 0, pgmnemo._hnsw_table_exists(g.name) FROM pgmnemo.hnsw_index g
                WHERE g.tenant_id = tenant AND g.built
                  AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant
                                     AND v.generation = g.generation AND v.indexed)
    LOOP
        IF NOT one.stands THEN
            RETURN QUERY SELECT 'HNSW index missing', NULL::uuid, NULL::bigint, one.name::text, '0', one.marked::text
                          WHERE one.marked > 0
                            AND (one.name IS NULL OR pgmnemo._hnsw_is_named(tenant, one.generation, one.name));
            CONTINUE;
        END IF;
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT CASE WHEN g.lesson_id IS NULL THEN ''vector missing in the HNSW index'' '
                'WHEN v.lesson_id IS NULL THEN ''vector surplus in the HNSW index'' '
                'ELSE ''vector otherwise in the HNSW index'' END, '
                'coalesce(v.project_id, g.project_id), coalesce(v.lesson_id, g.lesson_id), '
                'coalesce(v.number, g.number)::text, NULL::text, NULL::text FROM pgmnemo.%I g '
                'FULL JOIN (SELECT w.* FROM pgmnemo.lesson_vector w '
                'WHERE w.tenant_id = $1 AND w.generation = $2 AND w.indexed) v '
                'ON v.lesson_id = g.lesson_id AND v.number = g.number WHERE g.lesson_id IS NULL OR v.lesson_id IS NULL '
                'OR v.project_id <> g.project_id OR v.embedding OPERATOR(@extschema:vector@.<>) g.embedding', one.name)
              USING tenant, one.generation;
        EXCEPTION WHEN undefined_table THEN
            CONTINUE;
        END;
    END LOOP;
END
$$;
