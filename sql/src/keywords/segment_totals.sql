-- Return the BM25 (in units of 2^-40) of the lessons at these places of these segments, except undone lessons.
CREATE FUNCTION pgmnemo._segment_totals(scope pgmnemo.scope, asked pgmnemo.question, segments bigint[], chosen varbit[],
                                        undone bigint[])
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.lesson_id, sum(pgmnemo._impact(x.scale, x.frequency, (asked).flat, (asked).per_token, x.tokens,
                                            (asked).pivot))
      FROM (SELECT p.segment, p.place, t.scale,
                   CASE WHEN t.repeaters IS NOT NULL AND get_bit(t.repeaters, p.place) = 1
                        THEN t.frequencies[bit_count(substring(t.repeaters FROM 1 FOR p.place + 1))] ELSE 1
                   END AS frequency,
                   p.lesson_id, p.tokens
              FROM (SELECT c.segment, w.place, r.lesson_ids[w.place % 128 + 1] AS lesson_id,
                           r.token_counts[w.place % 128 + 1] AS tokens
                      FROM unnest(segments, chosen) AS c (segment, bits)
                     CROSS JOIN LATERAL pgmnemo._set_places(c.bits) w
                     CROSS JOIN LATERAL (
                            SELECT r.lesson_ids, r.token_counts FROM pgmnemo.segment_lesson r
                             WHERE r.tenant_id = (scope).tenant AND r.segment = c.segment
                               AND r.row_number = w.place / 128 OFFSET 0) r
                    OFFSET 0) p
              JOIN (SELECT t.segment, a.scale, pgmnemo._bitmap(t.holders, t.held_at, c.zeros) AS holders,
                           CASE WHEN t.frequencies IS NOT NULL
                                THEN pgmnemo._bitmap(t.repeaters, t.repeated_at, c.zeros) END AS repeaters,
                           t.frequencies
                      FROM (SELECT c.segment, (c.bits # c.bits)::varbit AS zeros
                              FROM unnest(segments, chosen) AS c (segment, bits)
                             WHERE bit_count(c.bits) > 0) c
                     CROSS JOIN unnest((asked).terms, (asked).scales) AS a (term, scale)
                      JOIN pgmnemo.segment_term t
                        ON t.tenant_id = (scope).tenant AND t.lexeme = a.term COLLATE "C" AND t.segment = c.segment
                    OFFSET 0) t ON t.segment = p.segment AND get_bit(t.holders, p.place) = 1
             WHERE p.lesson_id NOT IN (SELECT unnest(undone))) x
     GROUP BY x.lesson_id
$$;
