-- Whether what is kept of a lesson's vectors and passages is other than the set gives.
CREATE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given @extschema:vector@.vector, passages text[],
                                         vectors @extschema:vector@.vector[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                  WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number = 0)
           <> array_remove(ARRAY[pgmnemo._narrowed(given)], NULL)
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number),
                 ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._narrowed(vectors[n])
                                   FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
$$;
