-- Return a hash that recognizes a text.
CREATE FUNCTION pgmnemo._text_hash(content text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pg_catalog.hashtextextended(content, 0) $$;
