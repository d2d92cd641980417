-- Return whether a text is only one short question, apart from a lead-in (pgmnemo._without_lead_in): it asks for
-- what other lessons say. Most texts have no question mark, and searching for a mark costs less than a pattern.
CREATE FUNCTION pgmnemo._is_bare_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT octet_length(content) <= 800 AND length(content) <= 200
       AND (strpos(content, '?') > 0 OR strpos(content, ';') > 0 OR octet_length(content) <> length(content))
       AND content ~ '[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
       AND length(content) - length(replace(content, ' ', '')) <= 24
       AND pgmnemo._without_lead_in(content)
           ~ '^(?:[^.!?\u3002\uFF01\uFF1F\u061F\s]+\s*){1,12}[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
$$;

COMMENT ON FUNCTION pgmnemo._is_bare_question(text) IS 'true for one question of at most 12 words (of a script without blanks 200 characters), but for a lead-in (pgmnemo._without_lead_in)';
