-- Return the candidates of one recall with their own components and the leg of each: the best of each leg, others in
-- key order where both find fewer (leading lessons where nothing is asked), neighbours of the most relevant, and
-- lessons from the graph: the same for every k up to pool_depth. `lesson` joins them last, where no leg found it, to
-- get a score. Where equal lessons are one hit (asked.collapse), lessons that say the same count once, and lessons that
-- repeat the question never count: where too few others are left, the legs return more. The first of the lessons that
-- say the same is a candidate, the rest are `copies`.
CREATE FUNCTION pgmnemo._candidate_pool(
    scope pgmnemo.scope, asked pgmnemo.question, s pgmnemo.settings, k integer, by_words boolean, moment timestamptz,
    lesson bigint,
    OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT added bigint[],
    OUT near bigint[], OUT nears float8[], OUT linked bigint[], OUT graphs float8[], OUT seeds bigint[],
    OUT copies bigint[], OUT equal boolean, OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reach constant bigint := 2;    -- places before and after a lesson at which its neighbours are
    most  constant integer := 32;  -- lessons that are looked at there, in the order of their places
    beyond constant integer := 3200;  -- lessons of each leg that are looked through for others at most
    depth integer := greatest(s.pool_depth, k);
    looked integer := depth;
    different integer;
    marks bigint[];
    fresh pgmnemo.candidate[];
    found integer;
    ids bigint[];
    totals float8[];
    more bigint[];
    placed boolean;
BEGIN
    LOOP
        filled := NULL;
        SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
          FROM pgmnemo._keyword_leg(scope, asked, looked) t;
        by_vector := pgmnemo._vector_leg(scope, asked, looked, s);
        ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
        IF cardinality(asked.terms) = 0 AND asked.direction IS NULL THEN
            filled := ARRAY(SELECT pgmnemo._latest_lessons(scope, s, moment, looked));
            ids := filled;
        ELSIF cardinality(ids) < looked THEN
            filled := ARRAY(SELECT pgmnemo._further_lessons(scope, ids, looked - cardinality(ids)));
            ids := ids || filled;
        END IF;
        found := cardinality(ids);
        IF looked > depth THEN
            SELECT f.ids, f.totals, f.copies INTO ids, totals, copies
              FROM pgmnemo._first_of_each(scope, by_keyword, totals, by_vector, filled, 2 * depth) f;
        END IF;
        candidates := pgmnemo._candidates(scope, ids, totals, asked, s, by_words, moment);
        EXIT WHEN NOT asked.collapse;
        SELECT array_agg(c.mark), count(DISTINCT c.mark) FILTER (WHERE NOT c.repeats)
          INTO marks, different FROM unnest(candidates) c;
        EXIT WHEN found < looked OR looked >= depth + beyond;
        EXIT WHEN different >= depth;
        looked := least(depth + beyond, looked + 4 * (found - different));
    END LOOP;
    placed := s.neighbours_weight > 0
              AND (SELECT bool_or(c.place IS NOT NULL) FROM (SELECT (unnest(candidates)).place OFFSET 0) c);
    IF placed THEN
        added := ARRAY(
            SELECT DISTINCT l.id
              FROM (SELECT c.project_id, c.place FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                     WHERE c.place IS NOT NULL
                     ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.neighbours_seeds) c
             CROSS JOIN LATERAL (
                    SELECT l.* FROM pgmnemo.lesson l
                     WHERE l.tenant_id = scope.tenant AND l.project_id = c.project_id
                       AND l.position BETWEEN c.place - reach AND c.place + reach
                     ORDER BY l.position, l.id LIMIT most) l
             WHERE l.id <> ALL (ids) AND pgmnemo._recallable(l, scope));
        IF cardinality(added) > 0 THEN
            ids := ids || added;
            fresh := pgmnemo._candidates(scope, added, '{}', asked, s, by_words, moment);
            candidates := candidates || fresh;
            marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
        END IF;
    END IF;
    IF s.graph_weight > 0 AND EXISTS (SELECT FROM pgmnemo.lesson_edge e WHERE e.tenant_id = scope.tenant) THEN
        seeds := ARRAY(SELECT c.lesson_id FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                        WHERE r.relevance > 0
                        ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.graph_seeds);
        SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
          FROM pgmnemo._graph_leg(scope, candidates, seeds, s) g;
    END IF;
    IF NOT linked <@ ids OR lesson <> ALL (ids) THEN
        more := ARRAY(SELECT l.id FROM unnest(linked || lesson) AS w (id)
                       CROSS JOIN LATERAL (
                              SELECT l.id FROM pgmnemo.lesson l
                               WHERE l.tenant_id = scope.tenant AND l.id = w.id AND l.id <> ALL (ids)
                                 AND (l.id = lesson
                                      OR pgmnemo._recallable(l, scope)
                                         AND pgmnemo._in_scope(l.project_id, scope))
                              OFFSET 0) l
                       GROUP BY l.id);
        fresh := pgmnemo._candidates(scope, more, '{}', asked, s, by_words, moment);
        candidates := candidates || fresh;
        marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
    END IF;
    IF placed THEN
        SELECT array_agg(n.lesson_id), array_agg(n.neighbours) INTO near, nears
          FROM pgmnemo._neighbours(candidates, s) n;
    END IF;
    equal := false;
    IF asked.collapse THEN
        equal := copies <> '{}' OR cardinality(marks) > (SELECT count(DISTINCT m) FROM unnest(marks) m);
    END IF;
END
$$;
