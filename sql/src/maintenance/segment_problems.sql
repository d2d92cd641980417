-- Check each segment against itself: recall trusts its sums, its extremes and the order of its places. The token count
-- of a place is looked up in one array per segment, and no plan depends on statistics that may be missing.
CREATE FUNCTION pgmnemo._segment_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
AS $$
    WITH place AS MATERIALIZED (
        SELECT r.segment, r.row_number * 128 + u.place - 1 AS place, u.id, u.tokens
          FROM pgmnemo.segment_lesson r
         CROSS JOIN LATERAL unnest(r.lesson_ids, r.token_counts) WITH ORDINALITY AS u (id, tokens, place)
         WHERE r.tenant_id = tenant
    ), counted AS MATERIALIZED (
        SELECT p.segment, array_agg(p.tokens ORDER BY p.place) AS tokens FROM place p GROUP BY p.segment
    )
    SELECT w.problem, NULL::uuid, NULL::bigint, w.item, w.found, w.wanted
      FROM pgmnemo.segment c
     CROSS JOIN LATERAL (
            SELECT count(*) AS n, sum(p.tokens) AS total, max(p.place) + 1 AS places FROM place p
             WHERE p.segment = c.number) t
     CROSS JOIN LATERAL (
            SELECT sum(j.lesson_count) AS n, sum(j.token_total) AS total,
                   bool_and(j.first_place = j.due) AS side_by_side
              FROM (SELECT j.*, coalesce(sum(j.lesson_count) OVER (ORDER BY j.first_place
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS due
                      FROM pgmnemo.segment_project j WHERE j.tenant_id = tenant AND j.segment = c.number) j) j
     CROSS JOIN LATERAL (VALUES
            ('segment with wrong lesson_count', c.number::text, c.lesson_count::text, t.n::text,
             (c.lesson_count, c.lesson_count, c.lesson_count) IS DISTINCT FROM (t.n, t.places, j.n)),
            ('segment with wrong token_total', c.number::text, c.token_total::text, t.total::text,
             (c.token_total, c.token_total) IS DISTINCT FROM (t.total, j.total)),
            ('segment whose projects do not stand side by side', c.number::text, NULL, NULL, NOT j.side_by_side)
           ) AS w (problem, item, found, wanted, so)
     WHERE c.tenant_id = tenant AND w.so
     UNION ALL
    SELECT w.problem, NULL, NULL, t.lexeme, w.found, w.wanted
      FROM (SELECT t.lexeme, t.segment, t.lesson_count, t.max_frequency, t.min_tokens, t.frequencies,
                   c.lesson_count AS size, k.tokens, pgmnemo._bitmap(t.holders, t.held_at, c.zeros) AS holders,
                   CASE WHEN t.frequencies IS NOT NULL
                        THEN pgmnemo._bitmap(t.repeaters, t.repeated_at, c.zeros) END AS repeaters
              FROM pgmnemo.segment_term t
              LEFT JOIN pgmnemo.segment c ON c.tenant_id = tenant AND c.number = t.segment
              LEFT JOIN counted k ON k.segment = t.segment
             WHERE t.tenant_id = tenant OFFSET 0) t
     CROSS JOIN LATERAL (SELECT min(t.tokens[h.place + 1]) AS least FROM pgmnemo._set_places(t.holders) h) b
     CROSS JOIN LATERAL (VALUES
            ('term of a segment with a wrong bitmap', length(t.holders)::text, t.size::text,
             length(t.holders) IS DISTINCT FROM t.size OR length(t.repeaters) <> t.size
             OR bit_count(t.repeaters & ~ t.holders) > 0),
            ('term of a segment with wrong lesson_count', t.lesson_count::text, bit_count(t.holders)::text,
             t.lesson_count <> bit_count(t.holders)),
            ('term of a segment with wrong frequencies', cardinality(t.frequencies)::text, bit_count(t.repeaters)::text,
             cardinality(t.frequencies) <> bit_count(t.repeaters)
             OR t.max_frequency <> coalesce((SELECT max(f) FROM unnest(t.frequencies) f), 1)),
            ('term of a segment with wrong min_tokens', t.min_tokens::text, b.least::text,
             t.min_tokens IS DISTINCT FROM b.least)) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
