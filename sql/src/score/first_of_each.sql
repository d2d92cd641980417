-- Return the first lesson of each text per leg, at most `most` per leg, and as `copies` the lessons that say the same
-- as these.
CREATE FUNCTION pgmnemo._first_of_each(scope pgmnemo.scope, by_keyword bigint[], totals float8[], by_vector bigint[],
                                       filled bigint[], most integer,
                                       OUT ids bigint[], OUT totals float8[], OUT copies bigint[])
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT f.way, f.place, f.lesson_id, f.total, k.text_key
          FROM (SELECT 1 AS way, u.* FROM unnest(by_keyword, totals) WITH ORDINALITY AS u (lesson_id, total, place)
                 UNION ALL
                SELECT 2, u.lesson_id, NULL, u.place FROM unnest(by_vector) WITH ORDINALITY AS u (lesson_id, place)
                 UNION ALL
                SELECT 3, u.lesson_id, NULL, u.place FROM unnest(filled) WITH ORDINALITY AS u (lesson_id, place)) f
          JOIN pgmnemo._text_keys(scope, by_keyword || by_vector || filled) k ON k.lesson_id = f.lesson_id
    ), kept AS (
        SELECT k.text_key, min(k.way * 1000000000::bigint + k.place) AS place
          FROM (SELECT e.*, row_number() OVER (PARTITION BY e.way ORDER BY e.place) AS turn
                  FROM (SELECT DISTINCT ON (f.way, f.text_key) f.way, f.text_key, f.place
                          FROM found f ORDER BY f.way, f.text_key, f.place) e) k
         WHERE k.turn <= most
         GROUP BY k.text_key
    ), firsts AS (
        SELECT f.* FROM kept k JOIN found f ON f.way * 1000000000::bigint + f.place = k.place
    )
    SELECT coalesce((SELECT array_agg(f.lesson_id ORDER BY f.way, f.place) FROM firsts f), '{}'),
           coalesce((SELECT array_agg(f.total ORDER BY f.way, f.place) FROM firsts f), '{}'),
           ARRAY(SELECT DISTINCT f.lesson_id FROM found f JOIN firsts o ON o.text_key = f.text_key
                  WHERE f.lesson_id NOT IN (SELECT o.lesson_id FROM firsts o))
$$;
