-- Return the postings of segments, including undone lessons; under the empty lexeme every lesson. NULL: all lexemes.
-- Places are looked up in arrays of their segment: without statistics a join by places could be planned as a cross
-- join.
CREATE FUNCTION pgmnemo._segment_postings(tenant uuid, of_lexeme text DEFAULT NULL)
RETURNS TABLE (project_id uuid, lexeme text, lesson_id bigint, frequency integer, tokens integer)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH place AS MATERIALIZED (
        SELECT r.segment, (r.row_number * 128 + u.place - 1)::integer AS place, u.id, u.tokens, j.project_id
          FROM pgmnemo.segment_lesson r
         CROSS JOIN LATERAL unnest(r.lesson_ids, r.token_counts) WITH ORDINALITY AS u (id, tokens, place)
          LEFT JOIN pgmnemo.segment_project j ON j.tenant_id = tenant AND j.segment = r.segment
                                           AND r.row_number * 128 + u.place - 1 >= j.first_place
                                           AND r.row_number * 128 + u.place - 1 < j.first_place + j.lesson_count
         WHERE r.tenant_id = tenant
    ), listed AS MATERIALIZED (
        SELECT p.segment, array_agg(p.id ORDER BY p.place) AS ids, array_agg(p.tokens ORDER BY p.place) AS tokens,
               array_agg(p.project_id ORDER BY p.place) AS projects
          FROM place p GROUP BY p.segment
    )
    SELECT p.project_id, '', p.id, 0, p.tokens FROM place p WHERE of_lexeme IS NULL
     UNION ALL
    SELECT l.projects[h.place + 1], h.lexeme, l.ids[h.place + 1],
           CASE WHEN get_bit(h.repeaters, h.place) = 1
                THEN h.frequencies[bit_count(substring(h.repeaters FROM 1 FOR h.place + 1))] ELSE 1 END,
           l.tokens[h.place + 1]
      FROM (SELECT t.segment, t.lexeme, b.repeaters, t.frequencies, w.place
              FROM pgmnemo.segment_term t
              JOIN (SELECT c.number, c.zeros FROM pgmnemo.segment c
                     WHERE c.tenant_id = tenant OFFSET 0) c ON c.number = t.segment
             CROSS JOIN LATERAL (
                    SELECT pgmnemo._bitmap(t.holders, t.held_at, c.zeros) AS holders,
                           CASE WHEN t.frequencies IS NOT NULL
                                THEN pgmnemo._bitmap(t.repeaters, t.repeated_at, c.zeros) END AS repeaters OFFSET 0) b
             CROSS JOIN LATERAL pgmnemo._set_places(b.holders) w
             WHERE t.tenant_id = tenant AND (of_lexeme IS NULL OR t.lexeme = of_lexeme COLLATE "C") OFFSET 0) h
      JOIN listed l ON l.segment = h.segment
     WHERE l.ids[h.place + 1] IS NOT NULL
$$;
