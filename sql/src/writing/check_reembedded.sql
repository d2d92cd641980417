-- Check a call of pgmnemo.reembed: if a part cannot be stored, the whole call is refused.
CREATE FUNCTION pgmnemo._check_reembedded(tenant uuid, space pgmnemo.embedding_space, lesson_ids bigint[],
                                          numbers smallint[], embeddings @extschema:vector@.vector[], marks bigint[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 10000;  -- vectors
    count constant integer := coalesce(cardinality(lesson_ids), -1);
    wrong text;
BEGIN
    IF space.next_generation IS NULL THEN
        RAISE EXCEPTION 'the embedder of tenant % is not being changed', quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Call pgmnemo.begin_reembedding first.';
    ELSIF count NOT BETWEEN 0 AND most OR (count, count, count) IS DISTINCT FROM
          (cardinality(numbers), cardinality(embeddings), cardinality(marks)) THEN
        RAISE EXCEPTION 'lesson_ids, numbers, embeddings and marks must have as many elements each, at most %', most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give more in parts; nothing was stored.';
    END IF;
    SELECT format('vector %s of the set, %s', g.ordinal, CASE
               WHEN (g.lesson_id, g.number, g.embedding, g.mark) IS NULL OR g.lesson_id IS NULL OR g.number IS NULL
                    OR g.embedding IS NULL OR g.mark IS NULL THEN 'lacks a lesson, a number, a mark or the vector'
               WHEN g.place > 1 THEN format('is another one of text %s of lesson %s', g.number, g.lesson_id)
               WHEN NOT pgmnemo._fits_dimensions(g.embedding, space.next_dimensions)
               THEN format('has %s dimensions, and is to have %s', @extschema:vector@.vector_dims(g.embedding),
                           space.next_dimensions)
               WHEN @extschema:vector@.vector_norm(g.embedding) NOT BETWEEN 1e-15 AND 1e15
               THEN 'must have a norm from 1e-15 to 1e15' END) INTO wrong
      FROM (SELECT u.*, row_number() OVER (PARTITION BY u.lesson_id, u.number ORDER BY u.ordinal) AS place
              FROM unnest(lesson_ids, numbers, embeddings, marks) WITH ORDINALITY
                   AS u (lesson_id, number, embedding, mark, ordinal)) g
     WHERE g.lesson_id IS NULL OR g.number IS NULL OR g.embedding IS NULL OR g.mark IS NULL OR g.place > 1
        OR NOT pgmnemo._fits_dimensions(g.embedding, space.next_dimensions)
        OR @extschema:vector@.vector_norm(g.embedding) NOT BETWEEN 1e-15 AND 1e15
     ORDER BY g.ordinal LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
END
$$;
