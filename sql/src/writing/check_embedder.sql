-- Check a caller's name and dimension of an embedder; NULL leaves them out.
CREATE FUNCTION pgmnemo._check_embedder(name text, dimensions integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 4000;  -- dimensions that an HNSW index takes
BEGIN
    IF dimensions NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'dimensions is %, but must be from 1 to %', dimensions, most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'No index takes others: choose another embedder.';
    ELSIF name !~ '\S' OR octet_length(name) > 1000 THEN
        RAISE EXCEPTION 'the name of an embedder has % bytes, but must have 1 to 1000 and not be blank',
              octet_length(name)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give its model and revision, say.';
    END IF;
END
$$;
