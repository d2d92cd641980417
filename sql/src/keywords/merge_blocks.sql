-- Merge the small blocks of some of a tenant's posting lists; return whether there may be more.
CREATE FUNCTION pgmnemo._merge_blocks(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    full_block constant integer := 128;
    at_once    constant integer := 20000;  -- lists
BEGIN
    WITH small AS (
        DELETE FROM pgmnemo.posting p
         USING (SELECT q.project_id, q.lexeme FROM pgmnemo.posting q
                 WHERE q.tenant_id = tenant AND q.lesson_count BETWEEN 1 AND full_block - 1
                 GROUP BY 1, 2 HAVING count(*) > 1 LIMIT at_once) f
         WHERE p.tenant_id = tenant AND p.project_id = f.project_id AND p.lexeme = f.lexeme
           AND p.lesson_count BETWEEN 1 AND full_block - 1
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), lists AS (
        SELECT m.project_id, m.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM small m, unnest(m.lesson_ids, m.frequencies, m.token_counts) AS x (id, frequency, tokens)
         GROUP BY m.project_id, m.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
    RETURN FOUND;
END
$$;
