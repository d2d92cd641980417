-- Insert up to `most` waiting vectors into an HNSW index, which the caller has locked, one by one; return their
-- number. Vectors that another session is changing wait for the next merge. A nested loop is fast for few rows and
-- for many.
CREATE FUNCTION pgmnemo._hnsw_insert(tenant uuid, generation smallint, hnsw_table name, most bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    ids bigint[];
    numbers smallint[];
    projects uuid[];
    vectors @extschema:vector@.halfvec[];
BEGIN
    WITH chosen AS MATERIALIZED (
        SELECT n.* FROM (SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                            AND @extschema:vector@.vector_dims(v.embedding) <= 1250
                          LIMIT most FOR UPDATE SKIP LOCKED) n
         UNION ALL
        SELECT w.* FROM (SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                            AND @extschema:vector@.vector_dims(v.embedding) > 1250
                          LIMIT most FOR UPDATE SKIP LOCKED) w
    ), moved AS (
        UPDATE pgmnemo.lesson_vector v SET indexed = true
          FROM chosen c
         WHERE v.tenant_id = tenant AND v.lesson_id = c.lesson_id AND v.generation = generation
           AND v.number = c.number AND NOT v.indexed
        RETURNING v.lesson_id, v.number, v.project_id, v.embedding
    )
    SELECT array_agg(m.lesson_id), array_agg(m.number), array_agg(m.project_id), array_agg(m.embedding)
      INTO ids, numbers, projects, vectors FROM moved m;
    IF ids IS NOT NULL THEN
        EXECUTE format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '
                       'SELECT * FROM unnest($1, $2, $3, $4)', hnsw_table)
          USING ids, numbers, projects, vectors;
    END IF;
    RETURN coalesce(cardinality(ids), 0);
END
$$;
