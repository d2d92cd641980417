-- Return the candidates that say the same. For each text: the lesson that ranks first (`leads`), the lesson shown in
-- its place (the newest, and a statement rather than a question), and the number of other lessons. `left_out`: all
-- candidates but the first, each with its first in `first_of`.
CREATE FUNCTION pgmnemo._equal_lessons(scope pgmnemo.scope, candidates pgmnemo.candidate[], copies bigint[],
                                       near bigint[], nears float8[], linked bigint[], graphs float8[],
                                       s pgmnemo.settings, OUT leads bigint[], OUT shown bigint[], OUT others integer[],
                                       OUT left_out bigint[], OUT first_of bigint[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH same AS MATERIALIZED (
        SELECT array_agg(k.lesson_id ORDER BY r.repeats, r.score DESC, r.external_id, r.project_id)
               FILTER (WHERE r.score IS NOT NULL) AS members,
               (array_agg(k.lesson_id ORDER BY k.asks, k.happened DESC, k.lesson_id DESC))[1] AS newest,
               count(*)::integer - 1 AS others
          FROM pgmnemo._text_keys(scope, ARRAY(SELECT c.lesson_id FROM unnest(candidates) c) || copies) k
          LEFT JOIN (SELECT r.score, (r.own).* FROM pgmnemo._ranked(candidates, near, nears, linked, graphs, s) r) r
                 ON r.lesson_id = k.lesson_id
         WHERE NOT k.alone
         GROUP BY k.text_key HAVING count(*) > 1 AND count(r.score) > 0
    )
    SELECT coalesce(array_agg(m.members[1]), '{}'), array_agg(m.newest), array_agg(m.others),
           ARRAY(SELECT unnest(m.members[2:]) FROM same m),
           ARRAY(SELECT m.members[1] FROM same m CROSS JOIN LATERAL unnest(m.members[2:]))
      INTO leads, shown, others, left_out, first_of
      FROM same m;
END
$$;
