-- Return the counts of these lexemes in segments, and of lessons under the empty lexeme: in the tenant, and in scope;
-- with the highest frequency and the shortest lesson.
CREATE FUNCTION pgmnemo._segment_counts(scope pgmnemo.scope, lexemes text[])
RETURNS TABLE (lexeme text, lessons bigint, tokens bigint, held bigint, held_tokens bigint, frequency smallint,
               shortest integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pgmnemo.segment c WHERE c.tenant_id = scope.tenant) THEN
        RETURN;
    ELSIF pgmnemo._is_whole_tenant(scope) THEN
        RETURN QUERY
        SELECT '', sum(c.lesson_count), sum(c.token_total)::bigint, sum(c.lesson_count), sum(c.token_total)::bigint,
               NULL::smallint, NULL::integer
          FROM pgmnemo.segment c WHERE c.tenant_id = scope.tenant;
        RETURN QUERY
        SELECT t.lexeme, sum(t.lesson_count), NULL::bigint, sum(t.lesson_count), NULL::bigint, max(t.max_frequency),
               min(t.min_tokens)
          FROM pgmnemo.segment_term t WHERE t.tenant_id = scope.tenant AND t.lexeme = ANY (lexemes)
         GROUP BY t.lexeme;
        RETURN;
    END IF;
    RETURN QUERY
    WITH masks AS MATERIALIZED (
        SELECT * FROM pgmnemo._segment_masks(scope)
    )
    SELECT '', (SELECT sum(c.lesson_count) FROM pgmnemo.segment c WHERE c.tenant_id = scope.tenant),
           (SELECT sum(c.token_total) FROM pgmnemo.segment c WHERE c.tenant_id = scope.tenant)::bigint,
           (SELECT sum(m.lesson_count) FROM masks m)::bigint, (SELECT sum(m.token_total) FROM masks m)::bigint,
           NULL::smallint, NULL::integer
     UNION ALL
    SELECT t.lexeme, sum(t.lesson_count), NULL,
           sum(bit_count(pgmnemo._bitmap(t.holders, t.held_at, m.zeros) & m.mask))::bigint, NULL,
           max(t.max_frequency) FILTER (WHERE m.segment IS NOT NULL),
           min(t.min_tokens) FILTER (WHERE m.segment IS NOT NULL)
      FROM pgmnemo.segment_term t LEFT JOIN masks m ON m.segment = t.segment
     WHERE t.tenant_id = scope.tenant AND t.lexeme = ANY (lexemes)
     GROUP BY t.lexeme;
END
$$;
