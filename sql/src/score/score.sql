-- Return the sum of all contributions in their order; `relevance` is the sum of the first six.
CREATE FUNCTION pgmnemo._score(relevance float8, c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (score float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT relevance + l.context + l.neighbours + l.recency + l.importance + l.graph
      FROM pgmnemo._context_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._score IS 'the score by which recall ranks: the sum of a candidate''s contributions';
