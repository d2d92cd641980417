-- Whether a text is one short question and nothing else, but for a lead-in (pgmnemo._without_lead_in). It asks for what
-- others tell. Its last character and its blanks are looked at first, which costs less than a pattern.
CREATE FUNCTION pgmnemo._bare_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT octet_length(content) <= 800
       AND ascii(right(rtrim(content, E' \n'), 1)) IN (63, 59, 894, 1374, 1567, 4967, 65311)
       AND length(content) <= 200 AND length(content) - length(replace(content, ' ', '')) <= 24
       AND pgmnemo._without_lead_in(content)
           ~ '^(?:[^.!?\u3002\uFF01\uFF1F\u061F\s]+\s*){1,12}[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
$$;

COMMENT ON FUNCTION pgmnemo._bare_question(text) IS 'true for one question of at most 12 words (of a script without blanks 200 characters), but for a lead-in (pgmnemo._without_lead_in)';
