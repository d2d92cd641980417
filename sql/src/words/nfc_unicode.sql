-- Return the composed form of a name with characters beyond ASCII. Separate from pgmnemo._nfc, because a plan of
-- that function would normalize a constant before it knows the encoding.
CREATE FUNCTION pgmnemo._nfc_unicode(name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN name;
    END IF;
    RETURN normalize(name, NFC);
END
$$;
