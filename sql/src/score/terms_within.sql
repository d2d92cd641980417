-- What the question's terms that stand in a passage are worth. In one with more different words than the pivot they
-- stand by chance the more often, the longer it is, and are worth as much less.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, asked pgmnemo.question, bonus float8)
RETURNS TABLE (worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.idf + bonus), 0) * least(1, (asked).pivot / greatest(length(lexemes), 1))
      FROM unnest((asked).queries, (asked).idfs) AS t (query, idf)
     WHERE lexemes @@ t.query
$$;
