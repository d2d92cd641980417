-- Return the contributions in the order of the sum. Added in this order they give exactly the score.
CREATE FUNCTION pgmnemo._explain_score(l pgmnemo.lesson, c pgmnemo.candidate, context_from text, graph_seed text,
                                       s pgmnemo.settings, moment timestamptz)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'score', t.item, t.value::text, (to_jsonb(s) ->> (t.item || '_weight'))::float8,
           a.contributions[t.place], t.note
      FROM ROWS FROM (unnest(
               ARRAY['bm25', 'passage_terms', 'passage_cosine', 'pair_cosine', 'cosine', 'temporal',
                     'context', 'neighbours',
                     'recency', 'importance', 'graph'],
               ARRAY[(c).bm25, (c).passage_terms, (c).passage_cosine, (c).pair_cosine, (c).cosine,
                     (c).temporal, (c).context,
                     (c).neighbours, (c).recency, (c).importance, (c).graph],
               ARRAY[format('%s words; by its coverage of the question %s of its worth counts', (l).token_count,
                            round((c).coverage::numeric, 3)),
                     'by its coverage, too',
                     'unrelated texts have ' || round((c).center::numeric, 3), NULL, NULL,
                     coalesce('occurred at ' || (l).occurred_at, 'without occurred_at'),
                     CASE WHEN context_from = (l).external_id THEN 'its own relevance'
                          ELSE 'relevance of ' || quote_literal(context_from) END,
                     coalesce('position ' || (l).position, 'without position'),
                     format('age %s days, half-life %s days',
                            round((greatest(date_part('epoch', moment)
                                            - date_part('epoch', coalesce((l).occurred_at, (l).stored_at)), 0)
                                            / 86400)::numeric,
                                  2), (s).recency_half_life),
                     format('importance %s of 1 to 5', (l).importance),
                     'flows in from ' || quote_literal(graph_seed)])) WITH ORDINALITY AS t (item, value, note, place)
     CROSS JOIN pgmnemo._contributions(c, s) a
     ORDER BY t.place
$$;
