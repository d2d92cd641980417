-- Return whether a tenant's HNSW index is rebuilt when `entering` vectors enter: it is missing, or the vectors are
-- at least half as many as it has and so many that a rebuild is faster.
CREATE FUNCTION pgmnemo._hnsw_rebuild_due(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    worth_it constant integer := 1000;  -- vectors for which tables come and go
BEGIN
    RETURN NOT EXISTS (SELECT FROM pgmnemo.hnsw_index g
                        WHERE g.tenant_id = tenant AND g.generation = _hnsw_rebuild_due.generation
                          AND pgmnemo._hnsw_table_exists(g.name))
           OR entering >= worth_it AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                                    WHERE v.tenant_id = tenant
                                                      AND v.generation = _hnsw_rebuild_due.generation
                                                      AND v.indexed OFFSET 2 * entering);
END
$$;
