-- Return the question's lexemes, rarest first; lexemes of no lesson in scope come last.
CREATE FUNCTION pgmnemo._explain_terms(l pgmnemo.lesson, words text, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'term', q.lexeme, coalesce(cardinality(h.positions), 0)::text, a.idf,
           CASE WHEN h.lexeme IS NOT NULL
                THEN (s).bm25_weight
                     * pgmnemo._impact(a.scale, cardinality(h.positions),
                                       (asked).flat, (asked).per_token, (l).token_count,
                                       (asked).pivot)
                     / pgmnemo._bm25_unit()
                ELSE 0 END,
           format('in %s of %s lessons', coalesce(a.lessons, 0), (asked).held)
           || coalesce('; in passage ' || p.numbers, '')
      FROM unnest((SELECT w.lexemes FROM pgmnemo._question_words(words, pgmnemo._tenant_configs((l).tenant_id)) w))
           AS q (lexeme)
      LEFT JOIN unnest((asked).terms, (asked).idfs, (asked).scales, (asked).postings) AS a (lexeme, idf, scale, lessons)
             ON a.lexeme = q.lexeme
      LEFT JOIN unnest((l).lexemes) h ON h.lexeme = q.lexeme
     CROSS JOIN LATERAL (
            SELECT string_agg(p.number::text, ', ' ORDER BY p.number)
              FROM pgmnemo.passage p
             WHERE p.tenant_id = (l).tenant_id AND p.lesson_id = (l).id
               AND p.lexemes @@ pgmnemo._lexeme_query(q.lexeme)) AS p (numbers)
     ORDER BY a.idf DESC NULLS LAST, q.lexeme COLLATE "C"
$$;
