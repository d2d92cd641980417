-- Return a text with characters beyond ASCII escaped as in JSON, so that two forms of a name differ visibly.
CREATE FUNCTION pgmnemo._ascii_text(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(
               CASE WHEN n < 127 THEN c
                    WHEN n < 65536 THEN '\u' || lpad(to_hex(n), 4, '0')
                    ELSE '\u' || to_hex(55296 + ((n - 65536) >> 10))
                         || '\u' || to_hex(56320 + ((n - 65536) & 1023)) END, '' ORDER BY place), '')
      FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS u (c, place)
     CROSS JOIN LATERAL ascii(c) AS n
$$;
