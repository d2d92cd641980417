-- Return whether a vector fits a dimension: it has as many numbers, or only zeros beyond it, as clients of 0.5.0 fill
-- theirs up to 1,024.
CREATE FUNCTION pgmnemo._fits_dimensions(given @extschema:vector@.vector, dimensions integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN @extschema:vector@.vector_dims(given) > dimensions THEN pgmnemo._zero_from(given, dimensions + 1)
                ELSE @extschema:vector@.vector_dims(given) = dimensions END
$$;
