-- Drop an HNSW table that is no longer named, but only when the transaction ends: before, its readers would wait. At
-- that time PostgreSQL may run the trigger as the committing role. A name from another server may be reused meanwhile.
CREATE FUNCTION pgmnemo._graph_leaves()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._drop_graph(OLD.name)
      WHERE NOT EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.name = OLD.name);
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER vector_graph_after_delete AFTER DELETE ON pgmnemo.vector_graph
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgmnemo._graph_leaves();
CREATE CONSTRAINT TRIGGER vector_graph_after_update AFTER UPDATE OF name ON pgmnemo.vector_graph
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION pgmnemo._graph_leaves();
