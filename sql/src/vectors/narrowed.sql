-- A vector as it is kept: its direction alone, in half precision, at the narrowest width that leaves only zeros out.
CREATE FUNCTION pgmnemo._narrowed(given @extschema:vector@.vector)
RETURNS @extschema:vector@.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT @extschema:vector@.subvector(d.whole, 1, pgmnemo._width(d.whole))
      FROM (SELECT @extschema:vector@.l2_normalize(given)::@extschema:vector@.halfvec AS whole OFFSET 0) d
$$;
