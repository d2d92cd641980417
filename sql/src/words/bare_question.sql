-- Whether a text is one short question and nothing else, but for a date in brackets and a lead-in (Ada: Hey, ...). It
-- asks for what others tell. Its last character and its blanks are looked at first, which costs less than a pattern.
CREATE FUNCTION pgmnemo._bare_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT octet_length(content) <= 800
       AND CASE WHEN octet_length(right(rtrim(content, E' \n'), 1)) = 1 OR getdatabaseencoding() = 'UTF8'
                THEN ascii(right(rtrim(content, E' \n'), 1)) IN (63, 59, 894, 1374, 1567, 4967, 65311) ELSE false END
       AND length(content) <= 200 AND length(content) - length(replace(content, ' ', '')) <= 24
       AND content ~ ('^\s*(?:\[[^\]]*\]\s*)?'
                      '(?:[^[:alnum:]]*[[:alnum:]''\u2019]{1,12}(?:\s+[[:alnum:]''\u2019]{1,12}){0,2}'
                      '\s*[:,!\u060C\u3001\uFF01\uFF0C\uFF1A]+\s*){0,2}'
                      '(?:[^.!?\u3002\uFF01\uFF1F\u061F\s]+\s*){1,12}[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$')
$$;

COMMENT ON FUNCTION pgmnemo._bare_question(text) IS 'true for one question of at most 12 words (of a script without blanks 200 characters), with a lead-in of two clauses of three words at most';
