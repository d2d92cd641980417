-- Check each block of postings against itself: the pruning of recall trusts its order, its sums and its extremes.
CREATE FUNCTION pgmnemo._block_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.problem, p.project_id, p.lesson_ids[1], p.lexeme, w.found, w.wanted
      FROM pgmnemo.posting p
     CROSS JOIN LATERAL (
            SELECT count(*) AS n, coalesce(sum(x.tokens), 0) AS total, coalesce(max(x.frequency), 0) AS highest,
                   coalesce(min(x.tokens), 0) AS least, bool_and(coalesce(x.id > x.previous, x.place = 1)) AS ascending,
                   (cardinality(p.frequencies), cardinality(p.token_counts))
                   = (cardinality(p.lesson_ids), cardinality(p.lesson_ids))
                   AS alike
              FROM (SELECT u.*, lag(u.id) OVER (ORDER BY u.place) AS previous
                      FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) WITH ORDINALITY
                           AS u (id, frequency, tokens, place)) x) b
     CROSS JOIN LATERAL (VALUES
            ('block with lists of different lengths',
             concat_ws(', ', cardinality(p.lesson_ids), cardinality(p.frequencies), cardinality(p.token_counts)), NULL,
             NOT b.alike),
            ('block of no or more than 128 lessons', b.n::text, '1 to 128', b.n NOT BETWEEN 1 AND 128),
            ('block not in ascending order', p.lesson_ids::text, NULL, b.alike AND NOT b.ascending),
            ('block with wrong lesson_count', p.lesson_count::text, b.n::text, b.alike AND abs(p.lesson_count) <> b.n),
            ('block with wrong token_total', p.token_total::text, b.total::text,
             b.alike AND abs(p.token_total) <> b.total),
            ('block with wrong first_id', p.first_id::text, p.lesson_ids[1]::text,
             abs(p.first_id) IS DISTINCT FROM p.lesson_ids[1] OR (p.first_id < 0) <> (p.lesson_count < 0)),
            ('block with wrong max_frequency', p.max_frequency::text, b.highest::text,
             b.alike AND p.max_frequency <> b.highest),
            ('block with wrong min_tokens', p.min_tokens::text, b.least::text, b.alike AND p.min_tokens <> b.least)
           ) AS w (problem, found, wanted, so)
     WHERE p.tenant_id = tenant AND w.so
$$;
