CREATE FUNCTION pgmnemo.compact(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    full_block constant integer := 128;
    merged bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._lock_tenant(tenant);
    WITH small AS (
        DELETE FROM pgmnemo.posting p
         USING (SELECT q.project_id, q.lexeme FROM pgmnemo.posting q
                 WHERE q.tenant_id = tenant AND q.lesson_count < full_block
                 GROUP BY 1, 2 HAVING count(*) > 1) f
         WHERE p.tenant_id = tenant AND p.project_id = f.project_id AND p.lexeme = f.lexeme
           AND p.lesson_count < full_block
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), lists AS (
        SELECT m.project_id, m.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM small m, unnest(m.lesson_ids, m.frequencies, m.token_counts) AS x (id, frequency, tokens)
         GROUP BY m.project_id, m.lexeme
    ), written AS (
        INSERT INTO pgmnemo.posting
        SELECT tenant, l.project_id, l.lexeme, b.*
          FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
         ORDER BY l.project_id, l.lexeme COLLATE "C"
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM small) - (SELECT count(*) FROM written) INTO merged;
    PERFORM pgmnemo._leave();
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.compact IS 'merges the many small blocks that single writes leave in pgmnemo.posting; answers stay the same, recall gets faster. Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
