-- Return whether a vector has only zeros from a place on, counted from 1.
CREATE FUNCTION pgmnemo._zero_from(given @extschema:vector@.vector, place integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
AS $$
    SELECT @extschema:vector@.vector_norm(
               @extschema:vector@.subvector(given, place, @extschema:vector@.vector_dims(given) - place + 1)) = 0
$$;
