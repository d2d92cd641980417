-- Return pairs of a lesson of `ids` and an older lesson in scope that may share the `at_least` part of their lexemes.
-- Lessons so alike lack few of each other's lexemes, so they share all but as many of the rarest: the posting lists of
-- these are read, up to `read_most` postings per lesson, and the lessons that share most are returned. Lists of unknown
-- length are joined by hashing.
CREATE FUNCTION pgmnemo._similar_by_words(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_mergejoin = off
SET enable_nestloop = off
AS $$
#variable_conflict use_column
DECLARE
    read_most constant integer := 2000;  -- postings for one lesson
    most_size constant integer := 2000;  -- different words of a lesson that is compared by them
    told_most constant integer := 50;    -- older lessons for one
    lessons   bigint[];
    lexemes   text[];
    sizes     integer[];
    known     text[];
    held      bigint[];
BEGIN
    SELECT array_agg(l.id), array_agg(w.lexeme), array_agg(l.size) INTO lessons, lexemes, sizes
      FROM (SELECT l.id, l.lexemes, length(l.lexemes) AS size
              FROM unnest(ids) AS u (id)
             CROSS JOIN LATERAL (SELECT l.id, l.lexemes FROM pgmnemo.lesson l
                                  WHERE l.tenant_id = scope.tenant AND l.id = u.id OFFSET 0) l
             WHERE length(l.lexemes) <= most_size OFFSET 0) l
     CROSS JOIN LATERAL unnest(tsvector_to_array(l.lexemes)) AS w (lexeme);
    SELECT array_agg(c.lexeme), array_agg(c.held) INTO known, held
      FROM (SELECT h.lexeme, sum(h.held) AS held
              FROM (SELECT p.lexeme, p.lesson_count AS held FROM pgmnemo.posting p
                     WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (ARRAY(SELECT DISTINCT unnest(lexemes)))
                       AND p.project_id BETWEEN scope.first_project AND scope.last_project
                     UNION ALL
                    SELECT s.lexeme, s.held
                      FROM pgmnemo._segment_counts(scope, ARRAY(SELECT DISTINCT unnest(lexemes))) s) h
             WHERE h.lexeme <> '' GROUP BY h.lexeme) c;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH ordered AS MATERIALIZED (
        SELECT w.id, w.lexeme, w.size - ceil(at_least * w.size - 1e-9) AS missing,
               sum(k.held) OVER (PARTITION BY w.id ORDER BY k.held, w.lexeme COLLATE "C"
                                 ROWS UNBOUNDED PRECEDING) AS read
          FROM unnest(lessons, lexemes, sizes) AS w (id, lexeme, size)
          JOIN unnest(known, held) AS k (lexeme, held) ON k.lexeme = w.lexeme
    ), taken AS MATERIALIZED (
        SELECT o.id, o.lexeme, greatest(1, count(*) OVER (PARTITION BY o.id) - o.missing) AS wanted
          FROM ordered o WHERE o.read <= read_most
    ), shared AS (
        SELECT x.older, t.id AS newer, count(*) AS lexemes
          FROM taken t
         CROSS JOIN LATERAL (
                SELECT unnest(p.lesson_ids) AS older FROM pgmnemo.posting p
                 WHERE p.tenant_id = scope.tenant AND p.lexeme = t.lexeme AND p.lesson_count > 0
                   AND p.project_id BETWEEN scope.first_project AND scope.last_project
                   AND p.lesson_ids[1] < t.id
                 UNION ALL
                SELECT s.lesson_id FROM pgmnemo._segment_holders(scope, t.lexeme) s OFFSET 0) x
         WHERE x.older < t.id
         GROUP BY x.older, t.id
        HAVING count(*) >= min(t.wanted)
    )
    SELECT r.older, r.newer
      FROM (SELECT s.older, s.newer,
                   row_number() OVER (PARTITION BY s.newer ORDER BY s.lexemes DESC, s.older DESC) AS place
              FROM shared s) r
     WHERE r.place <= told_most;
END
$$;
