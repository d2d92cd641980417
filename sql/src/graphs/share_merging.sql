-- Do a writer's share in the upkeep of its tenant's HNSW index, where no scheduler does it: past a tail of about a
-- thousand each stored lesson inserts about as many vectors as it adds. Counting costs time: whether a tenant has
-- become large, and whether the tail is past its bound, is checked at random, less often the more there is to count,
-- and the latter is stored for concurrent writers. Where the share would only be a conflict, other writers do it.
CREATE FUNCTION pgmnemo._share_merging(tenant uuid, generation smallint, lessons integer, exact_scan_limit integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    looked_at constant integer := 125;   -- vectors that each lesson stored counts, on average, at most
    each      constant integer := 4;     -- vectors that each brings into the graph
    at_once   constant integer := 16;    -- lessons of a set that do
    tail_most constant bigint := pgmnemo._tail_most(exact_scan_limit);
    known boolean;
    late boolean;
    graph name;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    SELECT g.behind INTO known FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation;
    IF known IS NULL AND (random() * exact_scan_limit > lessons * looked_at
                          OR NOT pgmnemo._holds_vectors(tenant, generation, exact_scan_limit)
                          OR NOT pgmnemo._graph_worth(tenant, generation)
                          OR NOT pgmnemo._graphs_sound()
                          OR NOT pgmnemo._begin_graph(tenant, generation)) THEN
        RETURN;
    END IF;
    IF lessons >= 1000 AND EXISTS (SELECT FROM pgmnemo.vector_graph g
                                    WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation
                                      AND NOT g.built) THEN
        RETURN;  -- a load goes on: it is made at its end
    END IF;
    late := CASE WHEN random() * tail_most > lessons * looked_at THEN coalesce(known, false)
                 ELSE pgmnemo._tail(tenant, generation, tail_most + 1) > tail_most END;
    IF NOT late AND known IS NOT TRUE THEN
        RETURN;
    END IF;
    graph := pgmnemo._locked_graph(tenant, generation);
    IF graph IS NULL OR NOT pgmnemo._graphs_sound() THEN
        RETURN;
    ELSIF late <> coalesce(known, false) THEN
        UPDATE pgmnemo.vector_graph g SET behind = late
         WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation;
    END IF;
    IF late AND NOT pgmnemo._graph_stands(graph) THEN
        IF EXISTS (SELECT FROM pgmnemo.lesson_vector v
                    WHERE v.tenant_id = tenant AND v.generation = _share_merging.generation AND v.indexed) THEN
            RETURN;  -- one that was lost is too much for a writer
        END IF;
        graph := pgmnemo._make_graph(tenant, generation);
    END IF;
    IF late THEN
        PERFORM pgmnemo._merge(tenant, generation, graph, each * least(lessons, at_once));
    END IF;
END
$$;
