-- Lock and return the space of the tenant for these lessons' vectors, to the end of the transaction; the first vectors
-- create it; NULL: the set has no vectors. Vectors of another dimension are refused. Stored vectors without a space
-- define it.
CREATE FUNCTION pgmnemo._lock_space(tenant uuid, lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.embedding_space
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
    least integer;
    most integer;
BEGIN
    IF cardinality(lessons) = 1 AND (lessons[1]).passage_embeddings IS NULL THEN
        least := @extschema:vector@.vector_dims((lessons[1]).embedding);
        most := least;
    ELSE
        SELECT min(@extschema:vector@.vector_dims(g.vector)), max(@extschema:vector@.vector_dims(g.vector))
          INTO least, most FROM pgmnemo._given_vectors(lessons) g;
    END IF;
    IF most IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR KEY SHARE;
        EXIT WHEN FOUND;
        INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
        SELECT tenant, coalesce(v.generation, 1), coalesce(v.dims, g.dims)
          FROM (SELECT max(pgmnemo._first_dimensions(g.vector)) AS dims FROM pgmnemo._given_vectors(lessons) g) g
          LEFT JOIN (SELECT v.generation, @extschema:vector@.vector_dims(v.embedding) AS dims
                       FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant LIMIT 1) v ON true
            ON CONFLICT DO NOTHING;
    END LOOP;
    IF least <> space.dimensions OR most <> space.dimensions THEN
        PERFORM pgmnemo._refuse_vectors(tenant, lessons, space);
    END IF;
    PERFORM pgmnemo._check_session_embedder(tenant, space.embedder);
    RETURN space;
END
$$;
