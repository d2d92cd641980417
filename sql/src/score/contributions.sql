-- Return every part of the score in the order of the sum, for callers that show or fit it.
CREATE FUNCTION pgmnemo._contributions(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (contributions float8[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ARRAY[o.bm25, o.passage_terms, o.passage_cosine, o.pair_cosine, o.cosine, o.temporal,
                 l.context, l.neighbours, l.recency, l.importance, l.graph]
      FROM pgmnemo._own_parts(c, s) o CROSS JOIN pgmnemo._context_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._contributions IS 'what bm25, passage_terms, passage_cosine, pair_cosine, cosine, temporal, context, neighbours, recency, importance and graph add to the score of a candidate, in this order';
