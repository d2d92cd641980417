-- Return the uuid of a name in a namespace: RFC 9562's version 5 of its composed form without blanks around it, which
-- pgmnemo/client/naming.py computes from the same name.
CREATE FUNCTION pgmnemo._name_uuid(namespace uuid, name text)
RETURNS uuid
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;
    blanks constant text := '[\u0009-\u000D\u001C-\u0020\u0085\u00A0\u1680\u2000-\u200A'
                            '\u2028\u2029\u202F\u205F\u3000]+';
    stripped text := regexp_replace(pgmnemo._nfc(name), format('^%s|%s$', blanks, blanks), '', 'g');
    digest bytea;
BEGIN
    IF stripped IS NULL OR length(stripped) NOT BETWEEN 1 AND longest THEN
        RAISE EXCEPTION 'a tenant or project is named by a text of 1 to % characters, not %', longest,
            coalesce('one of ' || length(stripped), 'NULL')
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass a name, or use the uuid itself.';
    END IF;
    digest := pgmnemo._sha1(uuid_send(namespace) || convert_to(stripped, 'UTF8'));
    digest := set_byte(digest, 6, (get_byte(digest, 6) & 15) | 80);
    digest := set_byte(digest, 8, (get_byte(digest, 8) & 63) | 128);
    RETURN encode(substring(digest FROM 1 FOR 16), 'hex')::uuid;
END
$$;
