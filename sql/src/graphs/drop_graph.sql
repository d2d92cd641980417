-- Drop an HNSW table that vector_graph no longer names, unless a session is reading it: the call waits for no session,
-- and pgmnemo.upkeep drops the rest. Return whether it is gone.
CREATE FUNCTION pgmnemo._drop_graph(graph name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pgmnemo._graph_stands(graph) THEN
        EXECUTE format('LOCK TABLE pgmnemo.%I IN ACCESS EXCLUSIVE MODE NOWAIT', graph);
        EXECUTE format('DROP TABLE pgmnemo.%I', graph);
    END IF;
    RETURN true;
EXCEPTION
    WHEN undefined_table THEN
        RETURN true;
    WHEN lock_not_available OR object_in_use OR dependent_objects_still_exist OR insufficient_privilege THEN
        RETURN false;
END
$$;
