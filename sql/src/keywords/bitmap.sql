-- Return a bitmap of places, unpacked from its stored form: bits, or the places that are set in a bitmap of zeros.
-- Concatenation with an empty text unpacks the bits.
CREATE FUNCTION pgmnemo._bitmap(bits varbit, places smallint[], zeros varbit)
RETURNS varbit
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found varbit := zeros;
    place smallint;
BEGIN
    IF places IS NULL THEN
        RETURN bits || '';
    END IF;
    FOREACH place IN ARRAY places LOOP
        found := set_bit(found, place, 1);
    END LOOP;
    RETURN found;
END
$$;
