-- A vector as it is kept, and as it is asked with: its direction alone, in half precision, without the zeros that it
-- has beyond the tenant's dimensions (pgmnemo._fits).
CREATE FUNCTION pgmnemo._aligned(given @extschema:vector@.vector, dimensions integer)
RETURNS @extschema:vector@.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN @extschema:vector@.vector_dims(d.whole) = dimensions THEN d.whole
                ELSE @extschema:vector@.subvector(d.whole, 1, dimensions) END
      FROM (SELECT @extschema:vector@.l2_normalize(given)::@extschema:vector@.halfvec AS whole OFFSET 0) d
$$;
