-- Return whether a tenant's HNSW index is rebuilt when so many vectors enter: it is missing, or holds less than twice
-- as many and these are many, so that a rebuild is faster.
CREATE FUNCTION pgmnemo._graph_anew(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    worth_it constant integer := 1000;  -- vectors for which tables come and go
BEGIN
    RETURN NOT EXISTS (SELECT FROM pgmnemo.vector_graph g
                        WHERE g.tenant_id = tenant AND g.generation = _graph_anew.generation
                          AND pgmnemo._graph_stands(g.name))
           OR entering >= worth_it AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                                    WHERE v.tenant_id = tenant AND v.generation = _graph_anew.generation
                                                      AND v.indexed OFFSET 2 * entering);
END
$$;
