-- How many lessons a whole piece holds: bitmaps of 2 kB, of which some stand in a page.
CREATE FUNCTION pgmnemo._piece_size()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 16384 $$;
