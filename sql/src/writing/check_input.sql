-- A set with a lesson that cannot be stored, or that names one key twice, is refused whole. Lengths are asked first:
-- they are read off what came, and what follows reads no more than they allow.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_lessons  constant integer := 10000;
    most_content  constant integer := 10000000;    -- bytes
    most_metadata constant integer := 1000000;     -- bytes as jsonb, which are some 35 times as many as text at most
    most_text     constant integer := 10000;       -- bytes of each other text
    farthest      constant integer := 1000000000;  -- position, either way
    wrong record;
BEGIN
    IF cardinality(lessons) > most_lessons THEN
        RAISE EXCEPTION 'the set has % lessons, but may have %', cardinality(lessons), most_lessons
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store it in parts; nothing of the set was stored.';
    END IF;
    SELECT i.ordinal, coalesce(i.external_id, '') AS name, p.problem INTO wrong
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, vectors, position, ordinal)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN octet_length(i.external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id))
                WHEN octet_length(i.content) > most_content
                THEN format('has a content of %s bytes, but may have %s', octet_length(i.content), most_content)
                WHEN greatest(octet_length(i.topic), octet_length(i.role), octet_length(i.commit_sha),
                              octet_length(i.artifact_hash)) > most_text
                THEN format('has a topic, role, commit_sha or artifact_hash of more than %s bytes', most_text)
                WHEN pg_column_size(i.metadata) > most_metadata
                THEN format('has metadata of %s bytes, but may have %s', pg_column_size(i.metadata), most_metadata)
                WHEN pgmnemo._holds_unprintable(i.metadata)
                THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
                WHEN i.content !~ '\S' THEN 'has no text in its content'
                WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
                WHEN i.position NOT BETWEEN -farthest AND farthest
                THEN format('must have a position from -%s to %s', farthest, farthest)
                WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
                WHEN @extschema:vector@.vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
                THEN 'must have an embedding with a norm from 1e-15 to 1e15'
                ELSE pgmnemo._passages_problem(i.passages, i.vectors) END) AS p (problem)
     WHERE p.problem IS NOT NULL
     ORDER BY i.ordinal LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'lesson % of the set, %, %', wrong.ordinal, quote_literal(left(wrong.name, 100)), wrong.problem
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
    SELECT i.external_id, i.project_id INTO wrong
      FROM unnest(lessons) i GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'external_id % stands more than once in the set for project %',
              quote_literal(wrong.external_id), wrong.project_id
        USING ERRCODE = 'unique_violation', HINT = 'Give each key once; nothing of the set was stored.';
    END IF;
END
$$;
