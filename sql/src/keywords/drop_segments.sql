-- Delete these segments of a tenant and their negative postings; return the ids of their lessons that are unchanged.
CREATE FUNCTION pgmnemo._drop_segments(tenant uuid, numbers bigint[])
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids constant bigint[] := ARRAY(SELECT unnest(r.lesson_ids) FROM pgmnemo.segment_lesson r
                                    WHERE r.tenant_id = tenant AND r.segment = ANY (numbers));
    gone constant bigint[] := ARRAY(SELECT unnest(ids) INTERSECT SELECT unnest(pgmnemo._undone_postings(tenant)));
BEGIN
    DELETE FROM pgmnemo.segment_term t WHERE t.tenant_id = tenant AND t.segment = ANY (numbers);
    DELETE FROM pgmnemo.segment_project j WHERE j.tenant_id = tenant AND j.segment = ANY (numbers);
    DELETE FROM pgmnemo.segment_lesson r WHERE r.tenant_id = tenant AND r.segment = ANY (numbers);
    DELETE FROM pgmnemo.segment c WHERE c.tenant_id = tenant AND c.number = ANY (numbers);
    WITH touched AS MATERIALIZED (
        SELECT DISTINCT p.ctid AS block
          FROM pgmnemo.posting p CROSS JOIN LATERAL unnest(p.lesson_ids) AS u (id)
          JOIN unnest(gone) AS g (id) ON g.id = u.id
         WHERE p.tenant_id = tenant AND p.lesson_count < 0
    ), back AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), kept AS (
        SELECT b.project_id, b.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM back b, unnest(b.lesson_ids, b.frequencies, b.token_counts) AS x (id, frequency, tokens)
         WHERE x.id NOT IN (SELECT unnest(gone))
         GROUP BY b.project_id, b.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, k.project_id, k.lexeme, b.lesson_ids, b.frequencies, b.token_counts, -b.lesson_count,
           -b.token_total, b.max_frequency, b.min_tokens, -b.first_id
      FROM kept k CROSS JOIN LATERAL pgmnemo._posting_blocks(k.ids, k.frequencies, k.token_counts) b;
    RETURN ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(gone));
END
$$;
