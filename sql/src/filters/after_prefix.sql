-- Return the first text in C order beyond a prefix, as near as the encoding allows; NULL: there is no such text. The
-- caller filters out surplus rows.
CREATE FUNCTION pgmnemo._after_prefix(prefix text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unicode constant boolean := getdatabaseencoding() = 'UTF8';
    head text := prefix;
    code integer;
BEGIN
    WHILE head <> '' LOOP
        code := CASE WHEN unicode OR octet_length(right(head, 1)) = 1 THEN ascii(right(head, 1)) END;
        head := left(head, -1);
        IF code = 55295 AND unicode THEN
            RETURN head || chr(57344);  -- what lies between are no characters
        ELSIF code < 127 OR (unicode AND code < 1114111) THEN
            RETURN head || chr(code + 1);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
