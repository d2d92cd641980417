-- What the keyword index holds against what the tenant's active lessons hold, entry by entry.
CREATE FUNCTION pgmnemo._posting_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH due AS (
        SELECT l.project_id, l.id, u.lexeme COLLATE "C" AS lexeme, u.frequency, l.token_count AS tokens
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions) FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.active
    ), held AS (
        SELECT p.project_id, x.id, p.lexeme, max(x.frequency) AS frequency, max(x.tokens) AS tokens, count(*) AS times
          FROM pgmnemo.posting p, unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
         WHERE p.tenant_id = tenant
         GROUP BY p.project_id, p.lexeme, x.id
    )
    SELECT w.problem, project_id, id, lexeme, w.found, w.wanted
      FROM due d FULL JOIN held h USING (project_id, id, lexeme)
     CROSS JOIN LATERAL (VALUES
            ('posting missing', NULL, d.frequency::text, h.times IS NULL),
            ('posting surplus', h.frequency::text, NULL, d.lexeme IS NULL),
            ('posting more than once', h.times::text, '1', h.times > 1),
            ('posting with wrong frequency', h.frequency::text, d.frequency::text,
             d.lexeme IS NOT NULL AND h.times IS NOT NULL AND h.frequency IS DISTINCT FROM d.frequency),
            ('posting with wrong token count', h.tokens::text, d.tokens::text,
             d.lexeme IS NOT NULL AND h.times IS NOT NULL AND h.tokens IS DISTINCT FROM d.tokens)
           ) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
