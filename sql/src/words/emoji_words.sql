-- Return words for the emoji of a text, which the parser of text search leaves out: for each the numbers of its
-- characters. A flag is two characters.
CREATE FUNCTION pgmnemo._emoji_words(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(DISTINCT concat('emoji', to_hex(ascii(m[1])), to_hex(nullif(ascii(substr(m[1], 2)), 0))), ' ')
      FROM regexp_matches(words, '([\U0001F1E6-\U0001F1FF]{2}|[\u2600-\u27BF\U0001F000-\U0001FAFF])', 'g') AS m
$$;

COMMENT ON FUNCTION pgmnemo._emoji_words(text) IS 'words such as emoji1f355 for the emoji of a text in UTF8';
