-- Return the worth of the question's terms in a passage. Terms occur by chance more often in a passage with more
-- different words than the pivot, so they are worth less in proportion to its length.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, asked pgmnemo.question, bonus float8)
RETURNS TABLE (worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.idf + bonus), 0) * least(1, (asked).pivot / greatest(length(lexemes), 1))
      FROM unnest((asked).queries, (asked).idfs) AS t (query, idf)
     WHERE lexemes @@ t.query
$$;
