-- Append the posting blocks of these active lessons of a tenant, ids ascending within each block. The blocks of a
-- single lesson have one posting each, and need no aggregation.
CREATE FUNCTION pgmnemo._add_postings(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(ids) = 1 THEN
        INSERT INTO pgmnemo.posting
        SELECT tenant, l.project_id, u.lexeme, ids, ARRAY[u.frequency], l.token_counts, 1,
               l.token_count, u.frequency, l.token_count, ids[1]
          FROM (SELECT l.project_id, l.lexemes, l.token_count, ARRAY[l.token_count] AS token_counts
                  FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ids[1] AND l.active OFFSET 0) l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency);
        RETURN;
    END IF;
    WITH lists AS (
        SELECT l.project_id, u.lexeme, array_agg(l.id ORDER BY l.id) AS ids,
               array_agg(u.frequency ORDER BY l.id) AS frequencies,
               array_agg(l.token_count ORDER BY l.id) AS token_counts
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ANY (_add_postings.ids) AND l.active
         GROUP BY l.project_id, u.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
END
$$;
