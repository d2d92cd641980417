-- Return a name in the form for storage and comparison. PostgreSQL inlines it, so an ASCII text pays one cheap test.
CREATE FUNCTION pgmnemo._nfc(name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN octet_length(name) = length(name) THEN name ELSE pgmnemo._nfc_unicode(name) END $$;

COMMENT ON FUNCTION pgmnemo._nfc(text) IS 'a name in Unicode''s composed form (NFC), in which keys, topics, roles, subjects, relations and objects of facts are kept and asked for; in a database of another encoding than UTF8 as it is';
