-- Return the `depth` lessons of segments with the highest BM25 (in units of 2^-40), exactly, and those that tie with
-- the last. Upper bounds are counted in whole units, for a whole segment at once: `planes` are the binary digits of
-- these sums. Enough lessons with the highest bounds are scored first, and then all others that could reach the
-- depth-th score.
CREATE FUNCTION pgmnemo._segment_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer,
                                     OUT ids bigint[], OUT totals float8[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    digits constant integer := greatest(7, ceil(log(2, 16 * cardinality(asked.terms)::numeric)));
    -- a sum is rounded up by two units for each term at most: by an eighth of all units, or few lessons stand out
    unit   constant float8 := (SELECT sum(t) FROM unnest(asked.tops) t)
                              / ((1 << digits) - 1 - 2 * cardinality(asked.terms));
    wanted constant bigint := depth * CASE WHEN scope.plain THEN 2 ELSE 4 END;
    undone constant bigint[] := pgmnemo._undone_postings(scope.tenant);
    segments bigint[] := '{}';
    planes varbit[] := '{}';
    last bigint;
    base integer := -digits;
    bits varbit;
    plane varbit;
    carry varbit;
    half varbit;
    units bigint;
    level bigint;
    chosen varbit[];
    seen varbit[];
    r record;
BEGIN
    ids := '{}';
    totals := '{}';
    FOR r IN
        SELECT t.segment,
               CASE WHEN u.kind = 1 THEN pgmnemo._bitmap(t.holders, t.held_at, m.zeros)
                    ELSE pgmnemo._bitmap(t.repeaters, t.repeated_at, m.zeros) END AS bits, m.zeros, m.mask,
               CASE WHEN w.more <= 1 THEN w.once + w.more WHEN u.kind = 1 THEN w.once ELSE w.more END AS units
          FROM unnest(asked.terms, asked.scales) AS a (term, scale)
         CROSS JOIN LATERAL (
                SELECT t.* FROM pgmnemo.segment_term t
                 WHERE t.tenant_id = scope.tenant AND t.lexeme = a.term COLLATE "C" OFFSET 0) t
          JOIN pgmnemo._segment_masks(scope) m ON m.segment = t.segment
         CROSS JOIN LATERAL (
                SELECT pgmnemo._impact(a.scale, 1, asked.flat, asked.per_token, t.min_tokens, asked.pivot) + 1,
                       pgmnemo._impact(a.scale, t.max_frequency, asked.flat, asked.per_token, t.min_tokens,
                                       asked.pivot) + 1) AS i (once, often)
         CROSS JOIN LATERAL (
                SELECT ceil(i.once / unit)::bigint,
                       (ceil(i.often / unit) - ceil(i.once / unit))::bigint) AS w (once, more)
         CROSS JOIN (VALUES (1), (2)) AS u (kind)
         WHERE u.kind = 1 OR w.more > 1
         ORDER BY t.segment
    LOOP
        IF last IS DISTINCT FROM r.segment THEN
            last := r.segment;
            segments := segments || last;
            base := base + digits;
            FOR digit IN base + 1 .. base + digits LOOP
                planes[digit] := r.zeros;
            END LOOP;
        END IF;
        bits := CASE WHEN r.mask IS NULL THEN r.bits ELSE r.bits & r.mask END;
        units := r.units;
        carry := NULL;
        FOR digit IN base + 1 .. base + digits LOOP
            IF units & 1 = 1 THEN
                plane := planes[digit];
                half := plane # bits;
                IF carry IS NULL THEN
                    planes[digit] := half;
                    carry := plane & bits;
                ELSE
                    planes[digit] := half # carry;
                    carry := (plane & bits) | (half & carry);
                END IF;
            ELSIF carry IS NOT NULL THEN
                plane := planes[digit];
                planes[digit] := plane # carry;
                carry := plane & carry;
            ELSE
                EXIT WHEN units = 0;
            END IF;
            units := units >> 1;
        END LOOP;
    END LOOP;
    IF segments = '{}' THEN
        RETURN;
    END IF;
    SELECT l.level, l.reached INTO level, chosen FROM pgmnemo._threshold_level(planes, digits, wanted) l;
    LOOP
        SELECT ids || coalesce(array_agg(s.lesson_id), '{}'), totals || coalesce(array_agg(s.total), '{}')
          INTO ids, totals
          FROM pgmnemo._segment_totals(scope, asked, segments,
                                    ARRAY(SELECT coalesce(c & ~ s, c)
                                            FROM unnest(chosen, seen) WITH ORDINALITY AS u (c, s, place)
                                           ORDER BY place), undone) s;
        SELECT coalesce(array_agg(b.id), '{}'), coalesce(array_agg(b.total), '{}') INTO ids, totals
          FROM (SELECT u.id, u.total
                  FROM (SELECT * FROM unnest(ids, totals) AS u (id, total) ORDER BY u.total DESC OFFSET 0) u
                 CROSS JOIN LATERAL (
                        SELECT FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = u.id AND pgmnemo._recallable(l, scope) OFFSET 0) l
                 ORDER BY u.total DESC FETCH FIRST (depth) ROWS WITH TIES) b;
        last := level;
        -- where too few may be answered with, it goes further down step by step
        level := CASE WHEN cardinality(ids) >= depth THEN least(last, greatest(1, ceil(totals[depth] / unit)))
                      ELSE greatest(1, last / 2) END;
        EXIT WHEN level = last;
        seen := chosen;
        chosen := pgmnemo._places_at_level(planes, digits, level);
    END LOOP;
END
$$;
