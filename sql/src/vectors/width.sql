-- The narrowest width at which a stored vector (of 384, 768 or 1,024 dimensions) leaves only zeros out.
CREATE FUNCTION pgmnemo._width(whole @extschema:vector@.halfvec)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT w FROM unnest('{384,768}'::integer[]) AS w
                      WHERE w < @extschema:vector@.vector_dims(whole)
                        AND @extschema:vector@.l2_norm(
                                @extschema:vector@.subvector(whole, w + 1,
                                                             @extschema:vector@.vector_dims(whole) - w)) = 0
                      ORDER BY w LIMIT 1),
                    @extschema:vector@.vector_dims(whole))
$$;
