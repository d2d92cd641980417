-- Return the cosine of a stored vector and a unit direction: half precision makes lengths 1 but for rounding.
CREATE FUNCTION pgmnemo._cosine(stored @extschema:vector@.halfvec, direction @extschema:vector@.halfvec)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pgmnemo._clamped_cosine(-(stored OPERATOR(@extschema:vector@.<#>) direction)) $$;
