-- Remove these lessons of a project, in their former state, from the keyword index: from the blocks that hold them, and
-- for lessons of a segment by negative blocks. Ids ascend within a block, so its first and last id rule out most blocks
-- without them.
CREATE FUNCTION pgmnemo._remove_postings(tenant uuid, project uuid, gone bigint[], lexemes tsvector[], tokens integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first constant bigint := (SELECT min(g) FROM unnest(gone) g);
    last  constant bigint := (SELECT max(g) FROM unnest(gone) g);
    terms constant text[] := ARRAY(SELECT DISTINCT t FROM unnest(lexemes) AS u (v), unnest(tsvector_to_array(u.v)) t);
    in_segments bigint[] := '{}';
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    IF EXISTS (SELECT FROM pgmnemo.segment_project j WHERE j.tenant_id = tenant AND j.project_id = project) THEN
        in_segments := ARRAY(
            SELECT g FROM unnest(gone) g
            EXCEPT
            SELECT unnest(p.lesson_ids) FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id = project AND p.lesson_count > 0
               AND p.lesson_ids[1] <= last AND p.lesson_ids[p.lesson_count] >= first);
    END IF;
    WITH touched AS MATERIALIZED (
        SELECT p.ctid AS block, p.lesson_count AS lessons_before, kept.*
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT array_agg(x.id) AS ids, array_agg(x.frequency) AS frequencies,
                       array_agg(x.tokens) AS token_counts, count(*) AS lessons, sum(x.tokens) AS total,
                       max(x.frequency) AS highest, min(x.tokens) AS least
                  FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
                 WHERE x.id NOT IN (SELECT g FROM unnest(gone) AS g)) AS kept
         WHERE p.tenant_id = tenant AND p.project_id = project AND p.lexeme = ANY (terms || ''::text)
           AND p.lesson_count > 0 AND p.lesson_ids[1] <= last AND p.lesson_ids[p.lesson_count] >= first
    ), emptied AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block AND t.lessons = 0
    )
    UPDATE pgmnemo.posting p
       SET lesson_ids = t.ids, frequencies = t.frequencies, token_counts = t.token_counts,
           lesson_count = t.lessons, token_total = t.total, max_frequency = t.highest, min_tokens = t.least,
           first_id = t.ids[1]
      FROM touched t
     WHERE p.ctid = t.block AND t.lessons > 0 AND t.lessons < t.lessons_before;
    INSERT INTO pgmnemo.posting
    SELECT tenant, project, t.lexeme, b.lesson_ids, b.frequencies, b.token_counts, -b.lesson_count, -b.token_total,
           b.max_frequency, b.min_tokens, -b.first_id
      FROM (SELECT v.lexeme, array_agg(g.id ORDER BY g.id) AS ids,
                   array_agg(v.frequency ORDER BY g.id) AS frequencies,
                   array_agg(g.tokens ORDER BY g.id) AS token_counts
              FROM unnest(gone, lexemes, tokens) AS g (id, lexemes, tokens)
             CROSS JOIN LATERAL (SELECT u.lexeme, cardinality(u.positions)::smallint FROM unnest(g.lexemes) u
                                 UNION ALL SELECT '', 0::smallint) AS v (lexeme, frequency)
             WHERE g.id = ANY (in_segments)
             GROUP BY v.lexeme) t
     CROSS JOIN LATERAL pgmnemo._posting_blocks(t.ids, t.frequencies, t.token_counts) b;
END
$$;
