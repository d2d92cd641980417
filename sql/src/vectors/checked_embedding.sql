-- Return a caller's vector, checked. pgvector itself refuses NULL, NaN and infinity within it.
CREATE FUNCTION pgmnemo._checked_embedding(given real[])
RETURNS @extschema:vector@.vector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 4000;  -- dimensions that an HNSW index takes
    norm float8;
BEGIN
    IF coalesce(array_ndims(given), 1) <> 1 OR cardinality(given) NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'embedding has % numbers in % dimension(s), but must have 1 to % in one',
              cardinality(given), coalesce(array_ndims(given), 1), most
        USING ERRCODE = 'array_subscript_error', HINT = 'Pass NULL where there is no embedding.';
    END IF;
    norm := @extschema:vector@.vector_norm(given::@extschema:vector@.vector);
    IF norm NOT BETWEEN 1e-15 AND 1e15 THEN
        RAISE EXCEPTION 'embedding has norm %, but must have one from 1e-15 to 1e15', norm
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'A vector of zeros has no direction: pass NULL where there is no embedding.';
    END IF;
    RETURN given::@extschema:vector@.vector;
END
$$;
