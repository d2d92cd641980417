-- Return the values to compare metadata with: a text in each Unicode form in which it may have been stored, because
-- metadata are stored as given. Most values have one form.
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
