-- Return the dimension that a tenant's first vector sets: clients of 0.5.0 filled vectors of 384 and 768 dimensions up
-- to 1,024 with zeros.
CREATE FUNCTION pgmnemo._first_dimensions(given @extschema:vector@.vector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN d.dims <> 1024 THEN d.dims
                WHEN pgmnemo._zero_from(given, 385) THEN 384
                WHEN pgmnemo._zero_from(given, 769) THEN 768
                ELSE d.dims END
      FROM (SELECT @extschema:vector@.vector_dims(given) AS dims) d
$$;
