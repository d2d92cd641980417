-- Return the cosine of a stored vector and a unit direction: half precision makes lengths 1 but for rounding, so it is
-- bounded to -1 and 1. The product is written once, because PostgreSQL inlines the function.
CREATE FUNCTION pgmnemo._cosine(stored @extschema:vector@.halfvec, direction @extschema:vector@.halfvec)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN stored IS NOT NULL AND direction IS NOT NULL
                THEN least(1::float8, greatest(-1::float8, -(stored OPERATOR(@extschema:vector@.<#>) direction))) END
$$;
