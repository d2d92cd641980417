-- The cosine of a stored vector and a direction of unit length: in half precision lengths are 1 but for rounding.
CREATE FUNCTION pgmnemo._cosine(stored @extschema:vector@.halfvec, width smallint, direction @extschema:vector@.halfvec)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._bounded(-(stored OPERATOR(@extschema:vector@.<#>)
                              @extschema:vector@.subvector(direction, 1, width::integer)))
$$;
