-- Return the lessons in scope that pieces hold under a lexeme, and that were not taken back.
CREATE FUNCTION pgmnemo._sealed_holders(scope pgmnemo.scope, of_lexeme text)
RETURNS TABLE (lesson_id bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.lesson_ids[w.place % 128 + 1]
      FROM pgmnemo.piece_term t
      JOIN pgmnemo._masks(scope) m ON m.piece = t.piece
     CROSS JOIN LATERAL pgmnemo._places(pgmnemo._bits(t.holders, t.held_at, m.zeros) & coalesce(m.mask, ~ m.zeros)) w
      JOIN pgmnemo.piece_lesson r
        ON r.tenant_id = scope.tenant AND r.piece = t.piece AND r.row_number = w.place / 128
     WHERE t.tenant_id = scope.tenant AND t.lexeme = of_lexeme COLLATE "C"
       AND r.lesson_ids[w.place % 128 + 1] NOT IN (SELECT unnest(pgmnemo._taken_back(scope.tenant)));
END
$$;
