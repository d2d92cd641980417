-- Drop an HNSW table that is no longer named, but only when the transaction ends: before, its readers would wait. At
-- that time PostgreSQL may run the trigger as the committing role. A name from another server may be reused meanwhile.
CREATE FUNCTION pgmnemo._hnsw_index_after_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._hnsw_drop_table(OLD.name)
      WHERE NOT EXISTS (SELECT FROM pgmnemo.hnsw_index g WHERE g.name = OLD.name);
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER hnsw_index_after_delete AFTER DELETE ON pgmnemo.hnsw_index
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgmnemo._hnsw_index_after_change();
CREATE CONSTRAINT TRIGGER hnsw_index_after_update AFTER UPDATE OF name ON pgmnemo.hnsw_index
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.name <> NEW.name)
    EXECUTE FUNCTION pgmnemo._hnsw_index_after_change();
