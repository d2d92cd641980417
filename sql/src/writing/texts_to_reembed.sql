-- Return the texts with a serving vector and no vector of the next generation, in order.
CREATE FUNCTION pgmnemo._texts_to_reembed(space pgmnemo.embedding_space, after bigint, most bigint)
RETURNS TABLE (lesson_id bigint, number smallint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT v.lesson_id, v.number
      FROM pgmnemo.lesson_vector v
     WHERE v.tenant_id = space.tenant_id AND v.lesson_id > after AND v.generation = space.generation
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector n
                        WHERE n.tenant_id = space.tenant_id AND n.lesson_id = v.lesson_id
                          AND n.generation = space.next_generation AND n.number = v.number)
     ORDER BY v.lesson_id, v.number
     LIMIT most;
END
$$;
