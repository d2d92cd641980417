-- Return a vector in stored form, for storage and search: only its direction, in half precision, without zeros beyond
-- the tenant's dimension (pgmnemo._fits_dimensions).
CREATE FUNCTION pgmnemo._stored_vector(given @extschema:vector@.vector, dimensions integer)
RETURNS @extschema:vector@.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN @extschema:vector@.vector_dims(d.whole) = dimensions THEN d.whole
                ELSE @extschema:vector@.subvector(d.whole, 1, dimensions) END
      FROM (SELECT @extschema:vector@.l2_normalize(given)::@extschema:vector@.halfvec AS whole OFFSET 0) d
$$;
