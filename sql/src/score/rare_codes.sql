-- Return a query for the rare codes of a question, NULL without any: terms with a figure, of five characters or more,
-- that one or two lessons in scope hold. Who copies a code, with a whole log around it perhaps, asks for what names it:
-- such a lesson's words count in full, however little of the question they cover.
CREATE FUNCTION pgmnemo._rare_codes(asked pgmnemo.question)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(t.query::text, ' | ')::tsquery
      FROM unnest((asked).terms, (asked).queries, (asked).postings) AS t (term, query, held)
     WHERE t.held <= 2 AND length(t.term) >= 5 AND t.term ~ '[0-9]'
$$;
