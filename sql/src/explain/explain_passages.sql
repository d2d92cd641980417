-- Return the numbers of the passage that recall shows, and of the passages that determine passage_terms,
-- passage_cosine and pair_cosine.
CREATE FUNCTION pgmnemo._explain_passages(l pgmnemo.lesson, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH each AS (
        SELECT p.number, p.content, c.cosine, t.terms, t.lexemes,
               row_number() OVER (ORDER BY pgmnemo._passage_order(p.lexemes, v.embedding, asked, s), p.number) AS shown,
               row_number() OVER (ORDER BY c.cosine DESC NULLS LAST, p.number) AS by_cosine,
               row_number() OVER (ORDER BY t.terms DESC, p.number) AS by_terms
          FROM pgmnemo.passage p
          LEFT JOIN pgmnemo.lesson_vector v ON v.tenant_id = (l).tenant_id AND v.lesson_id = (l).id
                                           AND v.number = p.number AND v.generation = (asked).generation
         CROSS JOIN LATERAL (SELECT pgmnemo._cosine(v.embedding, (asked).direction)) AS c (cosine)
         CROSS JOIN LATERAL (
                SELECT t.worth, (SELECT string_agg(i.lexeme, ', ')
                                 FROM unnest((asked).terms, (asked).queries) AS i (lexeme, query)
                                  WHERE p.lexemes @@ i.query)
                  FROM pgmnemo._terms_within(p.lexemes, asked, (s).passage_term_bonus) t) AS t (terms, lexemes)
         WHERE p.tenant_id = (l).tenant_id AND p.lesson_id = (l).id
    )
    SELECT 'passage ' || e.number, r.item, r.value, NULL::float8, NULL::float8, r.note
      FROM each e
     CROSS JOIN LATERAL (VALUES
            (1, 'text', CASE WHEN e.shown = 1 THEN 'shown' END, e.content),
            (2, 'terms', e.terms::text, concat_ws(': ', CASE WHEN e.by_terms = 1 THEN 'most' END, e.lexemes)),
            (3, 'cosine', e.cosine::text, CASE e.by_cosine WHEN 1 THEN 'best' WHEN 2 THEN 'second' END)
           ) AS r (place, item, value, note)
     WHERE 1 IN (e.shown, e.by_cosine, e.by_terms) OR e.by_cosine = 2
     ORDER BY e.number, r.place
$$;
