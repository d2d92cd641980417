-- A name in the form in which names are kept and compared. It becomes a part of the statement that asks, so a text of
-- ASCII pays one cheap test.
CREATE FUNCTION pgmnemo._composed(name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN octet_length(name) = length(name) THEN name ELSE pgmnemo._composed_unicode(name) END $$;

COMMENT ON FUNCTION pgmnemo._composed(text) IS 'a name in Unicode''s composed form (NFC), in which keys, topics, roles, subjects, relations and objects of facts are kept and asked for; in a database of another encoding than UTF8 as it is';
