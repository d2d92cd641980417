-- A vector as it is kept: its direction alone, at the narrowest width that leaves only zeros out, in half precision.
CREATE FUNCTION pgmnemo._narrowed(given vector)
RETURNS halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT CASE WHEN vector_norm(subvector(given, 385, 640)) = 0 THEN l2_normalize(subvector(given, 1, 384))
                WHEN vector_norm(subvector(given, 769, 256)) = 0 THEN l2_normalize(subvector(given, 1, 768))
                ELSE l2_normalize(given) END::halfvec
$$;
