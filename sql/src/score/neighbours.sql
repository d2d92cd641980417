-- The relevance that reaches each candidate from the lessons up to two places before and after it: an answer often follows
-- its question, and a thought goes on in the next turn. Of a lesson two places away the less passes, the longer the one
-- between is; where none is between, a session ends. An assistant's lesson gains nothing, for it repeats; and nothing
-- comes from an assistant's lesson to those after it, only to the one that it answers.
CREATE FUNCTION pgmnemo._neighbours(scope pgmnemo.scope, candidates pgmnemo.candidate[], half_length float8)
RETURNS TABLE (lesson_id bigint, neighbours float8)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.lesson_id, sum(o.relevance * CASE WHEN abs(d.step) = 1 THEN 1 ELSE power(0.5::float8, least(b.words / half_length, 1000)) END
                             ORDER BY d.step, o.external_id)
      FROM unnest(candidates) c
     CROSS JOIN unnest('{-2,-1,1,2}'::integer[]) AS d (step)
      JOIN unnest(candidates) o ON o.project_id = c.project_id AND o.place = c.place + d.step
      LEFT JOIN LATERAL (
            SELECT max(l.token_count) AS words FROM pgmnemo.lesson l
             WHERE abs(d.step) = 2 AND l.tenant_id = (scope).tenant AND l.project_id = c.project_id
               AND l.position = c.place + d.step / 2 AND l.active) b ON true
     WHERE NOT coalesce(c.assistant, false) AND NOT (d.step < 0 AND coalesce(o.assistant, false))
       AND (abs(d.step) = 1 OR b.words IS NOT NULL)
     GROUP BY c.lesson_id
$$;
