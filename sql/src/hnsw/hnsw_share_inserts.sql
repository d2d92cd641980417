-- Do a writer's share of the maintenance of its tenant's HNSW index, if no scheduler does it: while more than about
-- a thousand vectors wait, each stored lesson inserts about as many vectors as it adds. Counting costs time: whether
-- a tenant has become large, and whether too many vectors wait, is checked at random, less often the more there is
-- to count, and the latter is stored for concurrent writers. If the index is locked by another writer, that writer
-- does the work.
CREATE FUNCTION pgmnemo._hnsw_share_inserts(tenant uuid, generation smallint, lessons integer, hnsw_min_vectors integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    looked_at constant integer := 125;   -- vectors that each lesson stored counts, on average, at most
    each      constant integer := 4;     -- vectors that each brings into the index
    at_once   constant integer := 16;    -- lessons of a set that do
    most_waiting constant bigint := pgmnemo._unindexed_limit(hnsw_min_vectors);
    known boolean;
    late boolean;
    hnsw_table name;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    SELECT g.behind INTO known FROM pgmnemo.hnsw_index g
     WHERE g.tenant_id = tenant AND g.generation = _hnsw_share_inserts.generation;
    IF known IS NULL AND (random() * hnsw_min_vectors > lessons * looked_at
                          OR NOT pgmnemo._has_more_vectors(tenant, generation, hnsw_min_vectors)
                          OR NOT pgmnemo._hnsw_allowed(tenant, generation)
                          OR NOT pgmnemo._hnsw_is_safe()
                          OR NOT pgmnemo._hnsw_register(tenant, generation)) THEN
        RETURN;
    END IF;
    IF lessons >= 1000 AND EXISTS (SELECT FROM pgmnemo.hnsw_index g
                                    WHERE g.tenant_id = tenant AND g.generation = _hnsw_share_inserts.generation
                                      AND NOT g.built) THEN
        RETURN;  -- a load goes on: it is made at its end
    END IF;
    late := CASE WHEN random() * most_waiting > lessons * looked_at THEN coalesce(known, false)
                 ELSE pgmnemo._unindexed_count(tenant, generation, most_waiting + 1) > most_waiting END;
    IF NOT late AND known IS NOT TRUE THEN
        RETURN;
    END IF;
    hnsw_table := pgmnemo._hnsw_lock(tenant, generation);
    IF hnsw_table IS NULL OR NOT pgmnemo._hnsw_is_safe() THEN
        RETURN;
    ELSIF late <> coalesce(known, false) THEN
        UPDATE pgmnemo.hnsw_index g SET behind = late
         WHERE g.tenant_id = tenant AND g.generation = _hnsw_share_inserts.generation;
    END IF;
    IF late AND NOT pgmnemo._hnsw_table_exists(hnsw_table) THEN
        IF EXISTS (SELECT FROM pgmnemo.lesson_vector v
                    WHERE v.tenant_id = tenant AND v.generation = _hnsw_share_inserts.generation AND v.indexed) THEN
            RETURN;  -- one that was lost is too much for a writer
        END IF;
        hnsw_table := pgmnemo._hnsw_create(tenant, generation);
    END IF;
    IF late THEN
        PERFORM pgmnemo._hnsw_insert(tenant, generation, hnsw_table, each * least(lessons, at_once));
    END IF;
END
$$;
