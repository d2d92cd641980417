-- Whether the set gives a lesson a vector or passages other than those that it has, or takes them away.
CREATE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given @extschema:vector@.vector, passages text[],
                                         vectors @extschema:vector@.vector[], clear text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (given IS NOT NULL
            AND ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                       WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number = 0)
                <> ARRAY[pgmnemo._narrowed(given)])
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number),
                 ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._narrowed(vectors[n])
                                   FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
        OR (clear && '{embedding,passages}'
            AND EXISTS (SELECT FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = lesson
                           AND CASE WHEN p.number = 0 THEN 'embedding' ELSE 'passages' END = ANY (clear)))
$$;
