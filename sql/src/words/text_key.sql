-- Return a key that lessons share if they say the same: one form of text (of a question without its lead-in), one
-- topic, one speaker (NULL is the user). Long texts must be identical.
CREATE FUNCTION pgmnemo._text_key(content text, topic text, role text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.hashtextextended(
        pg_catalog.concat_ws(E'\n', CASE WHEN octet_length(content) <= 8000 AND length(content) <= 2000
                                         THEN pgmnemo._text_form(CASE WHEN pgmnemo._is_bare_question(content)
                                                                      THEN pgmnemo._without_lead_in(content)
                                                                      ELSE content END)
                                         ELSE content END,
                             topic, nullif(role, 'user')), 0)
$$;
