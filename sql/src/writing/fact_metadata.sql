-- Return a fact as the metadata of its lesson, checked. Names that differ only in blanks are equal; names that
-- differ in capital letters are not.
CREATE FUNCTION pgmnemo._fact_metadata(subject text, relation text, object text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT p.name FROM (VALUES ('subject', subject), ('relation', relation), ('object', object))
                                      AS p (name, said)
                    WHERE pgmnemo._is_blank(p.said) OR octet_length(p.said) > 1000 LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% must have 1 to 1000 bytes and not be blank', wrong
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Name it in a few words; the content of the fact may say more.';
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'subject', pgmnemo._nfc(btrim(regexp_replace(subject, '\s+', ' ', 'g'))),
        'relation', pgmnemo._nfc(btrim(regexp_replace(relation, '\s+', ' ', 'g'))),
        'object', pgmnemo._nfc(btrim(regexp_replace(object, '\s+', ' ', 'g')))));
END
$$;
