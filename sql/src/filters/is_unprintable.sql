-- Return whether a number takes few bytes in jsonb, but very many as text. A few such numbers would fill a server's
-- memory and stop pg_dump.
CREATE FUNCTION pgmnemo._is_unprintable(number jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT abs(number::numeric) > 1e308 OR scale(number::numeric) > 400 $$;
