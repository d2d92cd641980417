-- Return whether a text has only blanks, controls and invisible characters, independent of the locale's blanks.
CREATE FUNCTION pgmnemo._is_blank(words text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT words !~ ('[^\s\u0001-\u0020\u007F-\u00A0\u00AD\u061C\u1680\u180E\u2000-\u200F\u2028-\u202F'
                     '\u205F-\u206F\u3000\uFEFF]')
$$;
