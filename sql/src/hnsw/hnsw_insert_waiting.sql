-- Insert up to `most` waiting vectors into a tenant's HNSW index, and start no more after `enough`; return their
-- number. NULL: another session is changing the index, or the tenant has no index. A build cannot be stopped and
-- resumed: if it would take longer than a set time, the index begins empty and the vectors enter one by one, over
-- many calls.
CREATE FUNCTION pgmnemo._hnsw_insert_waiting(tenant uuid, generation smallint, most bigint,
                                             enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at_once constant bigint := 100;
    hnsw_table name := pgmnemo._hnsw_lock(tenant, generation);
    waiting bigint := pgmnemo._unindexed_count(tenant, generation, most);
    entered bigint := 0;
    more bigint;
BEGIN
    IF hnsw_table IS NULL THEN
        RETURN NULL;
    ELSIF pgmnemo._hnsw_rebuild_due(tenant, generation, waiting) THEN
        IF enough = 'infinity' OR pgmnemo._hnsw_builds_soon(tenant, generation, waiting) THEN
            RETURN pgmnemo._hnsw_rebuild(tenant, generation, waiting);
        ELSIF NOT pgmnemo._hnsw_table_exists(hnsw_table) THEN
            IF NOT pgmnemo._hnsw_unmark(tenant, generation, enough) THEN
                RETURN 0;
            END IF;
            hnsw_table := pgmnemo._hnsw_create(tenant, generation);
            waiting := pgmnemo._unindexed_count(tenant, generation, most);
        END IF;
    END IF;
    WHILE entered < waiting LOOP
        more := pgmnemo._hnsw_insert(tenant, generation, hnsw_table, least(at_once, waiting - entered));
        entered := entered + more;
        EXIT WHEN more = 0 OR clock_timestamp() > enough;
    END LOOP;
    RETURN entered;
END
$$;
