-- What each component adds to the score of every lesson of a scope for one unit of its weight, for each of
-- some changes of settings; lessons in C order of their external ids. Nothing here knows the formula: the
-- extension is asked under weights of 1 (ones). Words count in full: a reach of 0 and a brevity of 1 take the
-- coverage out. With them the question's reach for one unit of each of the two weights of words, and its
-- brevity, from which scoring.py has the coverage under any weights.
SELECT (SELECT array_agg(a.contributions ORDER BY c.external_id COLLATE "C")
          FROM unnest(pgmnemo._candidates(w.scope, ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = %(tenant)s AND l.project_id = %(project)s), '{}', b.asked, h.s, true, m.moment)) c
         CROSS JOIN LATERAL pgmnemo._contributions(c, u.unit) a),
       ARRAY[(a.asked).reach,
             (pgmnemo._parse_question(w.scope, %(text)s, NULL, m.moment,
                           jsonb_populate_record(h.s, '{"bm25_weight": 0, "passage_terms_weight": 1}'))).reach,
             (a.asked).brevity]
FROM (SELECT coalesce(%(as_of)s::timestamptz, now()) AS moment OFFSET 0) m
CROSS JOIN (SELECT pgmnemo._settings() AS s OFFSET 0) g
CROSS JOIN (SELECT pgmnemo._scope(%(tenant)s, %(project)s, 'off') AS scope OFFSET 0) w
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, %(ones)s::jsonb) AS unit OFFSET 0) u
CROSS JOIN unnest(%(changes)s::jsonb[]) WITH ORDINALITY AS v (change, place)
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, v.change || '{"assistant_weight": 1, "question_weight": 1}') AS s OFFSET 0) h
CROSS JOIN pgmnemo._question_vector(%(tenant)s, pgmnemo._checked_embedding(%(vector)s::vector)) q
CROSS JOIN LATERAL (
    SELECT jsonb_populate_record(
               pgmnemo._parse_question(w.scope, %(text)s, q.vector, m.moment,
                            jsonb_populate_record(h.s, '{"bm25_weight": 1, "passage_terms_weight": 0}')),
               jsonb_build_object('generation', q.generation)) AS asked
    OFFSET 0) a
CROSS JOIN LATERAL (
    SELECT jsonb_populate_record(pgmnemo._with_background(w.scope, a.asked), '{"reach": 0, "brevity": 1}') AS asked
    OFFSET 0) b
ORDER BY v.place
