-- The terms of the formula in its order: added up one after another they are the score to the last bit.
CREATE FUNCTION pgmnemo._explain_score(l pgmnemo.lesson, c pgmnemo.candidate, context float8, context_from text, graph float8,
                                       graph_seed text, w pgmnemo.weights, moment timestamptz)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'score', t.item, t.value::text, t.weight, t.weight * t.counted, t.note
      FROM (VALUES
            ('bm25', (c).bm25, (w).bm25_weight, coalesce((c).bm25, 0), format('%s words', l.token_count)),
            ('passage_terms', (c).passage_terms, (w).passage_terms_weight, coalesce((c).passage_terms, 0), NULL),
            ('passage_cosine', (c).passage_cosine, (w).passage_cosine_weight, greatest((c).passage_cosine, 0), NULL),
            ('pair_cosine', (c).pair_cosine, (w).pair_cosine_weight, greatest((c).pair_cosine, 0), NULL),
            ('cosine', (c).cosine, (w).cosine_weight, greatest((c).cosine, 0), NULL),
            ('temporal', (c).temporal, (w).temporal_weight, (c).temporal,
             coalesce('occurred at ' || l.occurred_at, 'without occurred_at')),
            ('context', context, (w).context_weight, context,
             CASE WHEN context_from = l.external_id THEN 'its own relevance' ELSE 'relevance of ' || quote_literal(context_from) END),
            ('recency', (c).recency, (w).recency_weight, (c).recency,
             format('age %s days, half-life %s days',
                    round(greatest(extract(epoch FROM moment - coalesce(l.occurred_at, l.stored_at)), 0) / 86400, 2), (w).recency_half_life)),
            ('importance', (c).importance, (w).importance_weight, (c).importance, format('importance %s of 1 to 5', l.importance)),
            ('graph', graph, (w).graph_weight, graph, 'flows in from ' || quote_literal(graph_seed))
           ) AS t (item, value, weight, counted, note)
$$;
