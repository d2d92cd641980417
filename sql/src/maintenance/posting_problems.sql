-- Check the keyword index, in postings and segments and less what is undone, against the tenant's active lessons,
-- entry by entry: all are counted at once, because a join could be planned by missing statistics.
CREATE FUNCTION pgmnemo._posting_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH entry AS (
        SELECT l.project_id, l.id, u.lexeme COLLATE "C" AS lexeme, u.frequency, l.token_count AS tokens, 1 AS due,
               0 AS times, false AS loose
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions) FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.active
         UNION ALL
        SELECT p.project_id, x.id, p.lexeme, x.frequency, x.tokens, 0, CASE WHEN p.lesson_count < 0 THEN -1 ELSE 1 END,
               p.lesson_count > 0
          FROM pgmnemo.posting p, unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
         WHERE p.tenant_id = tenant
         UNION ALL
        SELECT s.project_id, s.lesson_id, s.lexeme, s.frequency, s.tokens, 0, 1, false
          FROM pgmnemo._segment_postings(tenant) s
    ), counted AS (
        SELECT e.project_id, e.id, e.lexeme, sum(e.due) > 0 AS due, sum(e.due * e.frequency) AS due_frequency,
               sum(e.due * e.tokens) AS due_tokens, sum(e.times) AS times,
               sum(e.times * e.frequency) AS frequency, sum(e.times * e.tokens) AS tokens,
               count(*) FILTER (WHERE e.loose) AS loose,
               (sum(e.times), sum(e.times * e.frequency), sum(e.times * e.tokens)) IS DISTINCT FROM (0, 0, 0) AS held
          FROM entry e
         GROUP BY e.project_id, e.lexeme, e.id
        HAVING (sum(e.times), sum(e.times * e.frequency), sum(e.times * e.tokens))
               IS DISTINCT FROM (sum(e.due), sum(e.due * e.frequency), sum(e.due * e.tokens))
            OR count(*) FILTER (WHERE e.loose) > 1
    )
    SELECT w.problem, c.project_id, c.id, c.lexeme, w.found, w.wanted
      FROM counted c
     CROSS JOIN LATERAL (VALUES
            ('posting missing', NULL, c.due_frequency::text, c.due AND NOT c.held),
            ('posting surplus', c.frequency::text, NULL, NOT c.due),
            ('posting more than once', greatest(c.times, c.loose)::text, '1', greatest(c.times, c.loose) > 1),
            ('posting with wrong frequency', c.frequency::text, c.due_frequency::text,
             c.due AND c.held AND c.frequency IS DISTINCT FROM c.due_frequency * c.times),
            ('posting with wrong token count', c.tokens::text, c.due_tokens::text,
             c.due AND c.held AND c.tokens IS DISTINCT FROM c.due_tokens * c.times)) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
