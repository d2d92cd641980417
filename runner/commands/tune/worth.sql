-- What each component adds to the score of every lesson of a scope for one unit of its weight, for each of
-- some changes of settings; lessons in C order of their external ids. Nothing here knows the formula: the
-- extension is asked under weights of 1 (ones).
SELECT (SELECT array_agg(pgmnemo._contributions(c, u.unit) ORDER BY c.external_id COLLATE "C")
          FROM unnest(pgmnemo._candidates(w.scope, ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = %(tenant)s AND l.project_id = %(project)s), '{}', a.asked, h.s, true, m.moment)) c)
FROM (SELECT coalesce(%(as_of)s::timestamptz, now()) AS moment OFFSET 0) m
CROSS JOIN (SELECT pgmnemo._settings() AS s OFFSET 0) g
CROSS JOIN (SELECT pgmnemo._scope(%(tenant)s, %(project)s, 'off') AS scope OFFSET 0) w
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, %(ones)s::jsonb) AS unit OFFSET 0) u
CROSS JOIN unnest(%(changes)s::jsonb[]) WITH ORDINALITY AS v (change, place)
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, v.change) AS s OFFSET 0) h
CROSS JOIN pgmnemo._question_vector(%(tenant)s, pgmnemo._embedding(%(vector)s::vector)) q
CROSS JOIN LATERAL (
    SELECT jsonb_populate_record(pgmnemo._ask(w.scope, %(text)s, q.vector, m.moment, h.s),
                                 jsonb_build_object('generation', q.generation)) AS asked
    OFFSET 0) a
ORDER BY v.place
