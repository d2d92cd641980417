-- Rebuild a tenant's HNSW index if it has problems.
CREATE FUNCTION pgmnemo._repair_graphs(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_of_them constant bigint := 2000000000;
    serving constant smallint := pgmnemo._generation(tenant);
BEGIN
    IF NOT EXISTS (SELECT FROM pgmnemo._graph_problems(tenant)) THEN
        RETURN;
    END IF;
    PERFORM pgmnemo._give_up_graphs(tenant);
    UPDATE pgmnemo.lesson_vector v SET indexed = false WHERE v.tenant_id = tenant AND v.indexed;
    IF pgmnemo._graphs_sound() AND pgmnemo._large(tenant, serving) THEN
        PERFORM pgmnemo._enter_graph(tenant, serving, all_of_them);
    END IF;
END
$$;
