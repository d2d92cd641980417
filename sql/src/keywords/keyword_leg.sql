-- Return the `depth` lessons in scope with the highest BM25 (in units of 2^-40), exactly, ties by external id: first
-- lessons of segments, then other lessons that could rank among them. MaxScore: the lists of the rarest terms are read
-- whole; once the remaining terms cannot lift a lesson without the read terms to the depth-th score so far, they are
-- read only for the few lessons that they could still lift. Without enable_sort the planner aggregates by hashing: it
-- takes a few hundred postings for three, and would sort.
CREATE FUNCTION pgmnemo._keyword_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    at_once        constant bigint := 3000;   -- postings that are read whole without asking for bounds
    many_terms     constant integer := 100;   -- they bound nothing, and each would cost a look at all that are left
    first_lists    constant integer := 4;     -- postings for each place wanted, before the first bound
    least_lists    constant bigint := 1000;   -- postings that are read on at least
    lesson_cost    constant integer := 15;    -- postings that cost as much as reading one lesson
    last           constant integer := cardinality(asked.terms);
    -- of these lessons a filter may leave fewer than are wanted
    looked_at      constant integer := CASE WHEN scope.plain THEN depth ELSE 4 * depth END;
    read integer := 0;
    wanted integer;
    lists bigint := 0;
    more bigint;
    ids bigint[];
    totals float8[];
    rest float8;
    least_of_best float8;
    segment_ids bigint[] := '{}';
    segment_totals float8[] := '{}';
    floor float8 := -1;
BEGIN
    IF last = 0 THEN
        RETURN;
    ELSIF scope.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT x.lesson_id, x.total FROM pgmnemo._best_totals(scope, asked, scope.ids, NULL, NULL) x
         WHERE x.total > 0 LIMIT depth;
        RETURN;
    END IF;
    IF 0 < ANY (asked.tops) THEN
        SELECT s.ids, s.totals INTO segment_ids, segment_totals FROM pgmnemo._segment_leg(scope, asked, depth) s;
        floor := coalesce(segment_totals[depth], -1);
    END IF;
    IF last > many_terms OR (SELECT sum(n) FROM unnest(asked.listed) n) <= at_once THEN
        read := last;
    ELSE
        LOOP
            read := read + 1;
            lists := lists + asked.listed[read];
            EXIT WHEN lists >= first_lists * depth OR read = last
                   OR floor > (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        END LOOP;
    END IF;
    SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
      FROM (SELECT u.lesson_id, sum(u.part) AS total FROM pgmnemo._posting_impacts(scope, asked, 1, read) u
             GROUP BY u.lesson_id) x;
    WHILE read < last LOOP
        rest := (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        least_of_best := (SELECT greatest(floor, coalesce(min(x.total) FILTER (WHERE x.place = depth), -1))
                            FROM (SELECT s.total, row_number() OVER (ORDER BY s.total DESC) AS place
                                    FROM pgmnemo._best_totals(scope, asked, ids, totals, looked_at) s) x);
        IF least_of_best <= rest THEN
            -- a lesson without any term read so far could be among the best: read on until none can, or the floor may
            -- have risen
            wanted := read;
            more := 0;
            WHILE rest >= least_of_best AND wanted < last LOOP
                wanted := wanted + 1;
                rest := (SELECT coalesce(sum(p), 0) FROM unnest(asked.peaks[wanted + 1:]) p);
                more := more + asked.listed[wanted];
                EXIT WHEN more >= greatest(lists, least_lists);
            END LOOP;
            SELECT array_agg(x.lesson_id), array_agg(x.total) INTO ids, totals
              FROM (SELECT u.lesson_id, sum(u.total) AS total
                      FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total
                             UNION ALL
                            SELECT * FROM pgmnemo._posting_impacts(scope, asked, read + 1, wanted)) u
                     GROUP BY u.lesson_id) x;
            read := wanted;
            lists := lists + more;
        ELSE
            SELECT coalesce(array_agg(h.lesson_id), '{}'), coalesce(array_agg(h.total), '{}') INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h WHERE h.total + rest >= least_of_best;
            EXIT WHEN lesson_cost * cardinality(ids) <= asked.listed[read + 1];
            SELECT array_agg(h.lesson_id), array_agg(h.total + coalesce(x.part, 0)) INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h
              LEFT JOIN pgmnemo._posting_impacts(scope, asked, read + 1, read + 1) x ON x.lesson_id = h.lesson_id;
            read := read + 1;
        END IF;
    END LOOP;
    IF read < last THEN
        SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
          FROM pgmnemo._best_totals(scope, asked, ids, totals, NULL) x;
    END IF;
    RETURN QUERY
    SELECT w.lesson_id, w.total
      FROM (SELECT * FROM unnest(ids || segment_ids, totals || segment_totals) AS h (lesson_id, total)
             WHERE h.total >= floor ORDER BY h.total DESC OFFSET 0) w
     CROSS JOIN LATERAL (
            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
             WHERE l.tenant_id = scope.tenant AND l.id = w.lesson_id AND pgmnemo._recallable(l, scope) OFFSET 0) l
     ORDER BY w.total DESC, l.external_id, l.project_id
     LIMIT depth;
END
$$;
