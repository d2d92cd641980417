-- Return the lessons in scope that segments hold under a lexeme, and that are not undone.
CREATE FUNCTION pgmnemo._segment_holders(scope pgmnemo.scope, of_lexeme text)
RETURNS TABLE (lesson_id bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.lesson_ids[w.place % 128 + 1]
      FROM pgmnemo.segment_term t
      JOIN pgmnemo._segment_masks(scope) m ON m.segment = t.segment
     CROSS JOIN LATERAL pgmnemo._set_places(
            pgmnemo._bitmap(t.holders, t.held_at, m.zeros) & coalesce(m.mask, ~ m.zeros)) w
      JOIN pgmnemo.segment_lesson r
        ON r.tenant_id = scope.tenant AND r.segment = t.segment AND r.row_number = w.place / 128
     WHERE t.tenant_id = scope.tenant AND t.lexeme = of_lexeme COLLATE "C"
       AND r.lesson_ids[w.place % 128 + 1] NOT IN (SELECT unnest(pgmnemo._undone_postings(scope.tenant)));
END
$$;
