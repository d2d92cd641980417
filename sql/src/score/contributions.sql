-- The score has one home, this function: what each component adds to it, in the order in which it is summed up. A leg
-- that was not asked adds nothing.
CREATE FUNCTION pgmnemo._contributions(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ARRAY[
        pgmnemo._share(c, s) * (s).bm25_weight * coalesce((c).bm25, 0),
        pgmnemo._share(c, s) * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
        pgmnemo._share(c, s) * (s).passage_cosine_weight * greatest((c).passage_cosine, 0),
        pgmnemo._share(c, s) * (s).pair_cosine_weight * greatest((c).pair_cosine, 0),
        pgmnemo._share(c, s) * (s).cosine_weight * greatest((c).cosine, 0),
        pgmnemo._share(c, s) * (s).temporal_weight * (c).temporal,
        (s).context_weight * (c).context,
        (s).neighbours_weight * (c).neighbours,
        (s).recency_weight * (c).recency,
        (s).importance_weight * (c).importance,
        (s).graph_weight * (c).graph]
$$;

COMMENT ON FUNCTION pgmnemo._contributions IS 'what bm25, passage_terms, passage_cosine, pair_cosine, cosine, temporal, context, neighbours, recency, importance and graph add to the score of a candidate, in this order';
