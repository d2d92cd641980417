-- Return the text or list of texts of a key of a filter.
CREATE FUNCTION pgmnemo._filter_texts(item text, given jsonb)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 1000;
    items jsonb := CASE jsonb_typeof(given) WHEN 'array' THEN given ELSE jsonb_build_array(given) END;
BEGIN
    IF jsonb_array_length(items) NOT BETWEEN 1 AND most
       OR EXISTS (SELECT FROM jsonb_array_elements(items) i WHERE jsonb_typeof(i) <> 'string') THEN
        PERFORM pgmnemo._filter_error(quote_literal(item), format('must be a text or a list of 1 to %s texts', most),
                                      'Leave it out where any will do.');
    END IF;
    RETURN ARRAY(SELECT DISTINCT pgmnemo._nfc(i) FROM jsonb_array_elements_text(items) i);
END
$$;
