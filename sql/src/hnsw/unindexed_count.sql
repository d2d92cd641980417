-- Return the number of a tenant's vectors that wait to enter the HNSW index, counted up to `most`.
CREATE FUNCTION pgmnemo._unindexed_count(tenant uuid, generation smallint, most bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
    counted bigint;
BEGIN
    SELECT count(*) INTO counted
      FROM (SELECT FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
               AND @extschema:vector@.vector_dims(v.embedding) <= 1250 LIMIT most) narrow;
    IF counted = 0 THEN
        SELECT count(*) INTO counted
          FROM (SELECT FROM pgmnemo.lesson_vector v
                 WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                   AND @extschema:vector@.vector_dims(v.embedding) > 1250 LIMIT most) wide;
    END IF;
    RETURN counted;
END
$$;
