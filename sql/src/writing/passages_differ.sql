-- Return whether the set changes or removes a lesson's vector or passages.
CREATE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given @extschema:vector@.vector, passages text[],
                                         vectors @extschema:vector@.vector[], clear text[],
                                         space pgmnemo.embedding_space)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (given IS NOT NULL
            AND ARRAY(SELECT v.embedding FROM pgmnemo.lesson_vector v
                       WHERE v.tenant_id = tenant AND v.lesson_id = lesson AND v.generation = (space).generation
                         AND v.number = 0)
                <> ARRAY[pgmnemo._stored_vector(given, (space).dimensions)])
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson ORDER BY p.number),
                 ARRAY(SELECT v.embedding
                         FROM pgmnemo.passage p
                         LEFT JOIN pgmnemo.lesson_vector v
                           ON v.tenant_id = tenant AND v.lesson_id = lesson AND v.generation = (space).generation
                          AND v.number = p.number
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._stored_vector(vectors[n], (space).dimensions)
                                   FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
        OR ('embedding' = ANY (clear)
            AND EXISTS (SELECT FROM pgmnemo.lesson_vector v
                         WHERE v.tenant_id = tenant AND v.lesson_id = lesson AND v.number = 0))
        OR ('passages' = ANY (clear)
            AND EXISTS (SELECT FROM pgmnemo.passage p WHERE p.tenant_id = tenant AND p.lesson_id = lesson))
$$;
