-- Return a text without insignificant differences: case, blanks, punctuation, forms of Unicode. Marks that distinguish
-- numbers and names stay: a mark before a digit (-5, 1.5, 10:30), an exclamation mark before a letter or = (a != b),
-- and symbols (C++, %, emoji). Blanks replace all else, so that no two words become one.
CREATE FUNCTION pgmnemo._text_form(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(content) <> length(content) AND getdatabaseencoding() = 'UTF8' THEN
        content := normalize(content, NFKC);
        content := regexp_replace(content, '[\u00AD\u034F\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                           '\uFE00-\uFE0F\uFEFF]', '', 'g');
        content := regexp_replace(content, '[\u2018\u2019]', '''', 'g');
        content := regexp_replace(content, '[\u2010-\u2015]', '-', 'g');
        content := regexp_replace(content, '[\u00A1\u00A7\u00AB\u00B6\u00B7\u00BB\u00BF\u055A-\u055F\u0589\u05BE'
                                           '\u05F3\u05F4\u060C\u061B\u061E\u061F\u06D4\u0964\u0965\u0E2F\u0E5A\u0E5B'
                                           '\u1361-\u1368\u2016-\u2027\u2030-\u205E\u2E00-\u2E5D\u3001-\u3003'
                                           '\u3008-\u3011\u3014-\u301F\u30FB]', ' ', 'g');
    END IF;
    RETURN btrim(regexp_replace(lower(content),
                                '(?:[-.,:;/''](?![0-9])|!(?![=[:alnum:]])|[][\s?"(){}_`*\\])+', ' ', 'g'));
END
$$;

COMMENT ON FUNCTION pgmnemo._text_form(text) IS 'a text in NFKC and lower case whose blanks and punctuation are single blanks: two texts of one form are the same to a reader';
