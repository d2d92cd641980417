CREATE FUNCTION pgmnemo.embedder(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (name text, dimensions integer, generation smallint, next_name text, next_dimensions integer)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT s.embedder, s.dimensions, s.generation, s.next_embedder, s.next_dimensions
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.embedder IS 'what the tenant''s vectors are of: the name of their embedder (NULL: nobody said), their dimension, and their generation in pgmnemo.list_vectors; next_name and next_dimensions while it is being changed. No row: the tenant has no vectors, and the first may be of any. tenant NULL: the session''s';
