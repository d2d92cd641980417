-- Return every vector of a set, of lessons and of passages, with the lesson's place in the set.
CREATE FUNCTION pgmnemo._given_vectors(lessons pgmnemo.lesson_input[])
RETURNS TABLE (ordinal bigint, external_id text, vector @extschema:vector@.vector)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT u.ordinal, (u.i).external_id, v.vector
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL (SELECT (u.i).embedding UNION ALL SELECT unnest((u.i).passage_embeddings)) AS v (vector)
     WHERE v.vector IS NOT NULL
$$;
