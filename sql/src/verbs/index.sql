CREATE FUNCTION pgmnemo.index(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    size_limit bigint := (pgmnemo._settings()).exact_scan_limit;
    entered bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    IF NOT pgmnemo._claim_graph(tenant) THEN
        RAISE NOTICE 'the HNSW indexes do not serve this tenant: every scope of it is read exactly'
        USING HINT = 'They are another tenant''s (the owner can call pgmnemo.share_vector_index()), or pgvector is '
                     'older than 0.8.4 (install a later one and run ALTER EXTENSION vector UPDATE).';
        PERFORM pgmnemo._leave();
        RETURN 0;
    END IF;
    WITH held AS (
        SELECT p.project_id, sum(p.lesson_count) AS n
          FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lexeme = '' GROUP BY 1
    )
    UPDATE pgmnemo.passage p SET indexed = true
     WHERE p.tenant_id = tenant AND p.embedding IS NOT NULL AND NOT p.indexed
       AND ((SELECT sum(h.n) FROM held h) > size_limit
            OR p.project_id IN (SELECT h.project_id FROM held h WHERE h.n > size_limit));
    GET DIAGNOSTICS entered = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN entered;
END
$$;

COMMENT ON FUNCTION pgmnemo.index IS 'brings vectors that were written before their project, or the whole tenant, grew beyond pgmnemo.exact_scan_limit into the HNSW index; returns how many. Worth it where the whole tenant is recalled from, or a project grew slowly';
