-- A name in the form in which names are kept and compared. A text of ASCII pays one cheap test. It fixes no search
-- path, for its callers do, and a call costs a third then.
CREATE FUNCTION pgmnemo._composed(name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF octet_length(name) = length(name) OR getdatabaseencoding() <> 'UTF8' OR name IS NFC NORMALIZED THEN
        RETURN name;
    END IF;
    RETURN normalize(name, NFC);
END
$$;

COMMENT ON FUNCTION pgmnemo._composed(text) IS 'a name in Unicode''s composed form (NFC), in which keys, topics, roles, subjects, relations and objects of facts are kept and asked for; in a database of another encoding than UTF8 as it is';
