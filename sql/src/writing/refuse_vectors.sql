-- Check vectors against the dimension of the space and refuse others; vectors that fit into it pass.
CREATE FUNCTION pgmnemo._refuse_vectors(tenant uuid, lessons pgmnemo.lesson_input[], space pgmnemo.embedding_space)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong record;
    unstored constant text := CASE WHEN cardinality(lessons) = 1 THEN 'it was not stored.'
                                   ELSE 'nothing of the set was stored.' END;
BEGIN
    SELECT CASE WHEN cardinality(lessons) > 1 THEN g.ordinal END AS ordinal, g.external_id,
           @extschema:vector@.vector_dims(g.vector) AS dims INTO wrong
      FROM pgmnemo._given_vectors(lessons) g WHERE NOT pgmnemo._fits_dimensions(g.vector, space.dimensions) LIMIT 1;
    IF FOUND AND EXISTS (SELECT FROM pgmnemo._given_vectors(lessons) g
                          WHERE NOT pgmnemo._fits_dimensions(g.vector, space.dimensions)
                            AND pgmnemo._fits_dimensions(g.vector, space.next_dimensions)) THEN
        RAISE EXCEPTION '% has a vector of the % dimensions to which tenant % is being changed',
              pgmnemo._lesson_label(wrong.ordinal, wrong.external_id), space.next_dimensions, quote_literal(tenant)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Until pgmnemo.finish_reembedding vectors of ' || space.dimensions || ' dimensions are stored; '
                     || unstored;
    ELSIF wrong.dims IS NOT NULL THEN
        RAISE EXCEPTION '% has a vector of % dimensions, but those of tenant % have %',
              pgmnemo._lesson_label(wrong.ordinal, wrong.external_id), wrong.dims, quote_literal(tenant),
              space.dimensions
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Embed it as the others were embedded, or change the embedder of the tenant with '
                     'pgmnemo.begin_reembedding; ' || unstored;
    END IF;
END
$$;
