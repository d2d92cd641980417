-- Gives a tenant, whose row of vector_graph the caller has locked, an empty graph: none of its vectors is marked as
-- being in it.
CREATE FUNCTION pgmnemo._make_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._new_graph(tenant, generation);
BEGIN
    PERFORM pgmnemo._index_graph(made);
    RETURN made;
END
$$;
