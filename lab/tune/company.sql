-- For each lesson of a scope, in the same order: the share of its relevance that stays at an assistant_weight
-- of 0, the part that counts of what only asks, the places of those of its moment, of those that its relevance reaches as neighbours, and what part of
-- it reaches each. Asked by lone relevances: one lesson is made worth 1 and all others 0.
WITH settings AS MATERIALIZED (
    SELECT pgmnemo._scope(%(tenant)s, %(project)s, 'off') AS scope, s,
           jsonb_populate_record(s, %(ones)s::jsonb || '{"question_weight": 1}') AS unit,
           jsonb_populate_record(s, '{"assistant_weight": 0}') AS deaf
      FROM (SELECT pgmnemo._settings() AS s OFFSET 0) g
), held AS MATERIALIZED (
    SELECT c.lesson_id, c.external_id, row_number() OVER (ORDER BY c.external_id COLLATE "C") AS place,
           c AS silent, jsonb_populate_record(c, '{"temporal": 1}') AS loud,
           pgmnemo._relevance_share(false, c.assistant, false, g.deaf) AS share,
           (SELECT pgmnemo._relevance_share(false, false, pgmnemo._is_bare_question(l.content), g.s) FROM pgmnemo.lesson l
             WHERE l.tenant_id = %(tenant)s AND l.id = c.lesson_id) AS asking
      FROM settings g
     CROSS JOIN unnest(pgmnemo._candidates(
            g.scope, ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = %(tenant)s AND l.project_id = %(project)s), '{}', pgmnemo._parse_question(g.scope, NULL, NULL, now(), g.s), g.unit, false, now())) c
), everybody AS MATERIALIZED (
    SELECT array_agg(h.silent ORDER BY h.place) AS silent FROM held h
)
SELECT h.external_id, h.share, h.asking, x.company, x.reached, x.parts
  FROM held h
 CROSS JOIN everybody e
 CROSS JOIN settings g
 CROSS JOIN LATERAL (
        SELECT e.silent[:h.place - 1] || h.loud || e.silent[h.place + 1:] AS candidates OFFSET 0) p
 CROSS JOIN LATERAL (
        SELECT array_agg(n.lesson_id) AS near, array_agg(n.neighbours) AS nears
          FROM pgmnemo._neighbours(p.candidates, g.unit) n OFFSET 0) n
 CROSS JOIN LATERAL (
        SELECT array_agg(o.place - 1 ORDER BY o.place) FILTER (WHERE (r.own).context > 0) AS company,
               array_agg(o.place - 1 ORDER BY o.place) FILTER (WHERE (r.own).neighbours > 0) AS reached,
               array_agg((r.own).neighbours ORDER BY o.place) FILTER (WHERE (r.own).neighbours > 0) AS parts
          FROM pgmnemo._ranked(p.candidates, n.near, n.nears, '{}', '{}', g.unit) r
          JOIN held o ON o.lesson_id = (r.own).lesson_id) x
 ORDER BY h.place
