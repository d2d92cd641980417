-- What the question's terms that stand in a passage are worth.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.idf + (s).passage_term_bonus), 0)
      FROM unnest((asked).queries, (asked).idfs) AS t (query, idf)
     WHERE lexemes @@ t.query
$$;
