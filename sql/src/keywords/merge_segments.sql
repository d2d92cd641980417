-- Make a segment of a tenant's postings where they are enough: a sixteenth of a whole segment if the tenant has
-- segments, else a fourth. Smaller segments join if the postings are at least half their size, or if they make a whole
-- segment together, so that there are few; and so do segments with many undone lessons. A call makes at most three
-- segments, of the smallest segments and the first lessons of the postings; return whether there may be more to do. One
-- statement deletes the postings and lists the lessons: lessons that another session stores meanwhile keep their own.
CREATE FUNCTION pgmnemo._merge_segments(tenant uuid, size integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    max_undone constant integer := size / 32;  -- lessons of a segment
    least constant integer := CASE WHEN EXISTS (SELECT FROM pgmnemo.segment c WHERE c.tenant_id = tenant)
                                   THEN size / 16 ELSE size / 4 END;
    loose constant bigint := (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                               WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0);
    upto bigint;
    more boolean := false;
    worn bigint[];
    taken bigint[];
    ids bigint[];
    listed bigint[];
BEGIN
    PERFORM pgmnemo._touch_tenant(tenant);
    worn := ARRAY(
        SELECT r.segment FROM pgmnemo.segment_lesson r CROSS JOIN LATERAL unnest(r.lesson_ids) AS u (id)
          JOIN unnest(pgmnemo._undone_postings(tenant)) AS g (id) ON g.id = u.id
         WHERE r.tenant_id = tenant
         GROUP BY r.segment HAVING count(*) > max_undone
         UNION
        SELECT c.number
          FROM (SELECT c.number, c.lesson_count, sum(c.lesson_count) OVER () AS together
                  FROM pgmnemo.segment c WHERE c.tenant_id = tenant AND c.lesson_count < size) c
         WHERE c.together >= size OR loose >= least AND c.lesson_count <= 2 * loose);
    IF loose < least AND worn = '{}' THEN
        RETURN false;
    END IF;
    taken := ARRAY(
        SELECT c.number
          FROM (SELECT c.number,
                       sum(c.lesson_count) OVER (ORDER BY c.lesson_count, c.number) - c.lesson_count AS smaller
                  FROM pgmnemo.segment c WHERE c.tenant_id = tenant AND c.number = ANY (worn)) c
         WHERE c.smaller < size);
    ids := pgmnemo._drop_segments(tenant, taken);
    IF loose > size THEN
        SELECT min(f.id), count(*) > 1 INTO upto, more
          FROM (SELECT u.id FROM pgmnemo.posting p CROSS JOIN LATERAL unnest(p.lesson_ids) AS u (id)
                 WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0
                   AND u.id NOT IN (SELECT unnest(pgmnemo._undone_postings(tenant)))
                 ORDER BY u.id OFFSET size - 1 LIMIT 2) f;
    END IF;
    WITH gone AS (
        DELETE FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.lesson_count > 0 AND (upto IS NULL OR p.first_id <= upto)
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), kept AS (
        SELECT g.project_id, g.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM gone g, unnest(g.lesson_ids, g.frequencies, g.token_counts) AS x (id, frequency, tokens)
         WHERE x.id > upto
         GROUP BY g.project_id, g.lexeme
    ), back AS (
        INSERT INTO pgmnemo.posting
        SELECT tenant, k.project_id, k.lexeme, b.*
          FROM kept k, LATERAL pgmnemo._posting_blocks(k.ids, k.frequencies, k.token_counts) b
    )
    SELECT array_agg(u.id) INTO listed
      FROM gone g CROSS JOIN LATERAL unnest(g.lesson_ids) AS u (id)
     WHERE g.lexeme = '' AND (upto IS NULL OR u.id <= upto);
    PERFORM pgmnemo._write_segments(tenant, ids || listed, size, least);
    RETURN more OR cardinality(taken) < cardinality(worn);
END
$$;
