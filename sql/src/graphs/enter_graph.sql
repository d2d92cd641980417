-- Insert up to `most` waiting vectors into a tenant's HNSW index, and start no more after `enough`; return how many.
-- NULL: another session is changing the index, or the tenant has no index. A build cannot be stopped and resumed: if it
-- would take longer than a set time, the index begins empty and the vectors enter one by one, over many calls.
CREATE FUNCTION pgmnemo._enter_graph(tenant uuid, generation smallint, most bigint,
                                     enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at_once constant bigint := 100;
    graph name := pgmnemo._locked_graph(tenant, generation);
    waiting bigint := pgmnemo._tail(tenant, generation, most);
    entered bigint := 0;
    more bigint;
BEGIN
    IF graph IS NULL THEN
        RETURN NULL;
    ELSIF pgmnemo._graph_anew(tenant, generation, waiting) THEN
        IF enough = 'infinity' OR pgmnemo._soon_built(tenant, generation, waiting) THEN
            RETURN pgmnemo._rebuild(tenant, generation, waiting);
        ELSIF NOT pgmnemo._graph_stands(graph) THEN
            IF NOT pgmnemo._unmark(tenant, generation, enough) THEN
                RETURN 0;
            END IF;
            graph := pgmnemo._make_graph(tenant, generation);
            waiting := pgmnemo._tail(tenant, generation, most);
        END IF;
    END IF;
    WHILE entered < waiting LOOP
        more := pgmnemo._merge(tenant, generation, graph, least(at_once, waiting - entered));
        entered := entered + more;
        EXIT WHEN more = 0 OR clock_timestamp() > enough;
    END LOOP;
    RETURN entered;
END
$$;
