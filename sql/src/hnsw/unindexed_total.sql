-- Return the number of a tenant's vectors that wait for its HNSW index; all of them if the index is lost.
CREATE FUNCTION pgmnemo._unindexed_total(tenant uuid, generation smallint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
    all_of_them constant bigint := 2000000000;
    waiting bigint := pgmnemo._unindexed_count(tenant, generation, all_of_them);
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.hnsw_index g WHERE g.tenant_id = tenant AND g.generation = generation
                  AND NOT pgmnemo._hnsw_table_exists(g.name)) THEN
        waiting := waiting + (SELECT count(*) FROM pgmnemo.lesson_vector v
                               WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
    END IF;
    RETURN waiting;
END
$$;
