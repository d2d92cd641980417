-- Return a value to compare metadata with, in each form in which a text may have been stored: metadata are stored as
-- given. Most have one form.
CREATE FUNCTION pgmnemo._value_forms(given jsonb)
RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said text := CASE WHEN jsonb_typeof(given) = 'string' THEN given #>> '{}' END;
BEGIN
    IF said IS NULL OR octet_length(said) = length(said) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN ARRAY[given];
    END IF;
    RETURN ARRAY(SELECT DISTINCT to_jsonb(f) FROM unnest(ARRAY[said, normalize(said, NFC), normalize(said, NFD)]) f);
END
$$;
