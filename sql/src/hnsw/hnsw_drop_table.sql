-- Drop an HNSW table that hnsw_index no longer names, unless a session is reading it: the call waits for no session,
-- and pgmnemo.maintain drops the rest. Return whether it is gone.
CREATE FUNCTION pgmnemo._hnsw_drop_table(hnsw_table name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pgmnemo._hnsw_table_exists(hnsw_table) THEN
        EXECUTE format('LOCK TABLE pgmnemo.%I IN ACCESS EXCLUSIVE MODE NOWAIT', hnsw_table);
        EXECUTE format('DROP TABLE pgmnemo.%I', hnsw_table);
    END IF;
    RETURN true;
EXCEPTION
    WHEN undefined_table THEN
        RETURN true;
    WHEN lock_not_available OR object_in_use OR dependent_objects_still_exist OR insufficient_privilege THEN
        RETURN false;
END
$$;
