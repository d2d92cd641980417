-- A set with a lesson that cannot be stored, or that names one key twice, is refused whole.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 50000000;  -- bytes of text: no dump holds a row that takes 1 GB when it is written out
    wrong record;
BEGIN
    SELECT i.ordinal, coalesce(i.external_id, '') AS name, p.problem INTO wrong
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, vectors, position, ordinal)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN i.content !~ '\S' THEN 'has no text in its content'
                WHEN octet_length(i.external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id))
                WHEN octet_length(concat(i.content, i.topic, i.role, i.commit_sha, i.artifact_hash, i.metadata)) > most
                THEN format('has more than %s bytes of text and metadata', most)
                WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
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
