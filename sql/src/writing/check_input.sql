-- A set with a lesson that cannot be stored, or that names one key twice, is refused whole. Unnested in the SELECT
-- list lessons pass by one by one, and none is copied.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most     constant integer := 10000;       -- lessons
    farthest constant integer := 1000000000;  -- position, either way
    wrong record;
BEGIN
    IF cardinality(lessons) > most THEN
        RAISE EXCEPTION 'the set has % lessons, but may have %', cardinality(lessons), most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store it in parts; nothing of the set was stored.';
    END IF;
    SELECT u.ordinal, (u.i).external_id, p.problem INTO wrong
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL pgmnemo._size_problem(
                (u.i).content, (u.i).topic, (u.i).role, (u.i).commit_sha, (u.i).artifact_hash, (u.i).metadata,
                (u.i).passages) AS s (size)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN (u.i).project_id IS NULL OR coalesce((u.i).external_id, '') = '' OR (u.i).content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN octet_length((u.i).external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length((u.i).external_id))
                WHEN s.size IS NOT NULL THEN s.size
                WHEN (u.i).content !~ '\S' THEN 'has no text in its content'
                WHEN pgmnemo._holds_unprintable((u.i).metadata)
                THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
                WHEN (u.i).importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
                WHEN (u.i).position NOT BETWEEN -farthest AND farthest
                THEN format('must have a position from -%s to %s', farthest, farthest)
                WHEN NOT isfinite((u.i).occurred_at) THEN 'must have a finite occurred_at'
                WHEN @extschema:vector@.vector_norm((u.i).embedding) NOT BETWEEN 1e-15 AND 1e15
                THEN 'must have an embedding with a norm from 1e-15 to 1e15'
                ELSE pgmnemo._passages_problem((u.i).passages, (u.i).passage_embeddings) END) AS p (problem)
     WHERE p.problem IS NOT NULL
     LIMIT 1;
    PERFORM pgmnemo._refuse_lesson(wrong.ordinal, wrong.external_id, wrong.problem);
    SELECT (u.i).external_id, (u.i).project_id INTO wrong
      FROM (SELECT unnest(lessons) AS i OFFSET 0) u GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'external_id % stands more than once in the set for project %',
              quote_literal(wrong.external_id), wrong.project_id
        USING ERRCODE = 'unique_violation', HINT = 'Give each key once; nothing of the set was stored.';
    END IF;
END
$$;
