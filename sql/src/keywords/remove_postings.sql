-- Takes these lessons out of every block of a project that holds one of these lexemes. Ids ascend within a block,
-- so its ends tell most blocks apart that hold none of them.
CREATE FUNCTION pgmnemo._remove_postings(tenant uuid, project uuid, gone bigint[], lexemes text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    WITH touched AS MATERIALIZED (
        SELECT p.ctid AS block, p.lesson_count AS lessons_before, kept.*
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT array_agg(x.id) AS ids, array_agg(x.frequency) AS frequencies,
                       array_agg(x.tokens) AS token_counts, count(*) AS lessons, sum(x.tokens) AS total,
                       max(x.frequency) AS highest, min(x.tokens) AS least
                  FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
                 WHERE x.id NOT IN (SELECT g FROM unnest(gone) AS g)) AS kept
         WHERE p.tenant_id = tenant AND p.project_id = project AND p.lexeme = ANY (lexemes || ''::text)
           AND p.lesson_ids[1] <= (SELECT max(g) FROM unnest(gone) AS g)
           AND p.lesson_ids[p.lesson_count] >= (SELECT min(g) FROM unnest(gone) AS g)
    ), emptied AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block AND t.lessons = 0
    )
    UPDATE pgmnemo.posting p
       SET lesson_ids = t.ids, frequencies = t.frequencies, token_counts = t.token_counts,
           lesson_count = t.lessons, token_total = t.total, max_frequency = t.highest, min_tokens = t.least
      FROM touched t
     WHERE p.ctid = t.block AND t.lessons > 0 AND t.lessons < t.lessons_before;
END
$$;
