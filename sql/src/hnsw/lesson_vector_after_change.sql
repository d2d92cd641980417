-- Delete a vector from the HNSW index when it is deleted or no longer marked as indexed. Writers do not pay for vectors
-- outside the index. The row that names the table is locked, so that the table is not dropped meanwhile.
CREATE FUNCTION pgmnemo._lesson_vector_after_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hnsw_table name;
BEGIN
    SELECT g.name INTO hnsw_table FROM pgmnemo.hnsw_index g
     WHERE g.tenant_id = OLD.tenant_id AND g.generation = OLD.generation FOR KEY SHARE;
    IF FOUND AND pgmnemo._hnsw_table_exists(hnsw_table) THEN
        EXECUTE format('DELETE FROM pgmnemo.%I WHERE lesson_id = $1 AND number = $2', hnsw_table)
          USING OLD.lesson_id, OLD.number;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_vector_after_delete AFTER DELETE ON pgmnemo.lesson_vector
    FOR EACH ROW WHEN (OLD.indexed) EXECUTE FUNCTION pgmnemo._lesson_vector_after_change();
CREATE TRIGGER lesson_vector_after_update AFTER UPDATE OF indexed ON pgmnemo.lesson_vector
    FOR EACH ROW WHEN (OLD.indexed AND NOT NEW.indexed) EXECUTE FUNCTION pgmnemo._lesson_vector_after_change();
