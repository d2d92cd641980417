-- Return the vector of a question in the tenant's dimension, the generation to compare it with, and the HNSW table of
-- that generation; the vector is unchanged for a tenant without vectors.
CREATE FUNCTION pgmnemo._question_vector(tenant uuid, given @extschema:vector@.vector,
                                         OUT vector @extschema:vector@.vector, OUT generation smallint,
                                         OUT hnsw_table text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    dims integer;
    embedder text;
BEGIN
    vector := given;
    IF given IS NULL THEN
        RETURN;
    END IF;
    SELECT s.generation, s.dimensions, s.embedder, g.name INTO generation, dims, embedder, hnsw_table
      FROM pgmnemo.embedding_space s
      LEFT JOIN pgmnemo.hnsw_index g ON g.tenant_id = s.tenant_id AND g.generation = s.generation
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._check_session_embedder(tenant, embedder);
    IF dims IS NULL OR @extschema:vector@.vector_dims(given) = dims THEN
        RETURN;
    ELSIF NOT pgmnemo._fits_dimensions(given, dims) THEN
        RAISE EXCEPTION 'the question has an embedding of % dimensions, but the vectors of tenant % have %',
              @extschema:vector@.vector_dims(given), quote_literal(tenant), dims
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed it as the lessons were embedded.';
    END IF;
    vector := @extschema:vector@.subvector(given, 1, dims);
END
$$;
