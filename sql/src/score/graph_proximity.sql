-- Return the relevance that flows along edges, both ways: for a lesson the best over all other seeds and all paths of
-- at most `depth` edges of the seed's relevance times, for each edge, half its weight. Paths lead through active
-- lessons that are valid at the time and pass the gate, in any project and role. Each step keeps at most `width`
-- lessons and follows the first edges of each in either direction, in key order, so hubs and cycles cost no more.
CREATE FUNCTION pgmnemo._graph_proximity(scope pgmnemo.scope, seed_ids bigint[], seed_relevances float8[],
                                         depth integer,
                                         width integer)
RETURNS TABLE (lesson_id bigint, graph float8, seed bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_edges constant integer := 200;
    anywhere pgmnemo.scope := pgmnemo._scope(scope.tenant, NULL, scope.gate, NULL, scope.valid_at, scope.moment,
                                                     scope.known_at);
    seeds bigint[] := seed_ids;
    ids bigint[] := seed_ids;
    strengths float8[] := seed_relevances;
BEGIN
    FOR step IN 1 .. depth LOOP
        SELECT array_agg(n.seed), array_agg(n.id), array_agg(n.strength) INTO seeds, ids, strengths
          FROM (SELECT f.seed, l.id, max(f.strength * e.weight / 2) AS strength
                  FROM unnest(seeds, ids, strengths) AS f (seed, id, strength)
                 CROSS JOIN LATERAL (
                       (SELECT o.target_id, o.weight::float8, o.valid_from, o.valid_to FROM pgmnemo.lesson_edge o
                         WHERE o.tenant_id = scope.tenant AND o.source_id = f.id
                         ORDER BY o.target_id, o.kind LIMIT most_edges)
                         UNION ALL
                       (SELECT i.source_id, i.weight::float8, i.valid_from, i.valid_to FROM pgmnemo.lesson_edge i
                         WHERE i.tenant_id = scope.tenant AND i.target_id = f.id
                         ORDER BY i.source_id, i.kind LIMIT most_edges)
                       ) AS e (id, weight, valid_from, valid_to)
                 CROSS JOIN LATERAL (
                        SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = e.id
                           AND pgmnemo._recallable(l, anywhere) OFFSET 0) l
                 WHERE e.id <> f.seed
                   AND (scope.valid_at IS NULL OR (coalesce(e.valid_from <= scope.valid_at, true)
                                                   AND coalesce(scope.valid_at < e.valid_to, true)))
                 GROUP BY f.seed, l.id, l.external_id, l.project_id
                 ORDER BY strength DESC, l.external_id, l.project_id, f.seed
                 LIMIT width) n;
        EXIT WHEN ids IS NULL;
        RETURN QUERY SELECT * FROM unnest(ids, strengths, seeds);
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._graph_proximity IS 'graph component, 0 or more, in units of relevance: max over seeds and paths of relevance(seed) * product over the path''s edges of weight / 2';
