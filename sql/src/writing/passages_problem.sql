-- Return the error in the passages of a lesson; NULL: none.
CREATE FUNCTION pgmnemo._passages_problem(passages text[], vectors @extschema:vector@.vector[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF passages IS NULL AND vectors IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN CASE
        WHEN array_ndims(passages) > 1 OR array_ndims(vectors) > 1
        THEN 'must have passages and passage_embeddings in lists, not in tables'
        WHEN vectors IS NOT NULL AND coalesce(cardinality(passages), -1) <> cardinality(vectors)
        THEN format('has %s passages, but %s passage_embeddings', coalesce(cardinality(passages), 0),
                    cardinality(vectors))
        WHEN (SELECT sum(octet_length(p)) FROM unnest(passages) p) > 20000000
        THEN 'has passages of more than 20,000,000 bytes together'
        WHEN array_position(passages, NULL) IS NOT NULL
        THEN format('has no text in passage %s', array_position(passages, NULL))
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_dims(v) > 4000)
        THEN 'must have passage_embeddings of at most 4,000 dimensions'
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_norm(v) NOT BETWEEN 1e-15 AND 1e15)
        THEN 'must have passage_embeddings with a norm from 1e-15 to 1e15'
    END;
END
$$;
