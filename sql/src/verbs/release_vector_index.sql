-- The claim goes first: that waits for those who bring vectors in on the strength of it, and the second statement sees
-- what they wrote. The policies show rows of the acting tenant alone, so it acts for the one that had the indexes.
CREATE FUNCTION pgmnemo.release_vector_index()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    holder uuid;
BEGIN
    DELETE FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NOT NULL RETURNING g.tenant_id INTO holder;
    IF holder IS NULL THEN
        RETURN false;
    END IF;
    PERFORM set_config('pgmnemo.acting_tenant', holder::text, true);
    UPDATE pgmnemo.passage p SET indexed = false WHERE p.tenant_id = holder AND p.indexed;
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.release_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.release_vector_index() IS 'takes the HNSW indexes from the tenant that has them, whose scopes are then read exactly: the next large tenant that stores, or calls pgmnemo.index, gets them. Returns whether somebody had them; VACUUM pgmnemo.passage afterwards. Only the extension''s owner may';
