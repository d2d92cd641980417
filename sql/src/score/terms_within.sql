-- What the question's terms that stand in a text are worth. In a text with more different words than the pivot they
-- stand by chance the more often, the longer it is: `exponent` says how far that is held against it.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, asked pgmnemo.question, bonus float8, exponent float8)
RETURNS TABLE (worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.idf + bonus), 0) * power(least(1, (asked).pivot / greatest(length(lexemes), 1)), exponent)
      FROM unnest((asked).queries, (asked).idfs) AS t (query, idf)
     WHERE lexemes @@ t.query
$$;
