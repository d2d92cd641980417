-- By which a text is known again.
CREATE FUNCTION pgmnemo._text_mark(content text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pg_catalog.hashtextextended(content, 0) $$;
