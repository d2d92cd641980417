-- Return how many lessons a whole segment holds: its bitmaps take 2 kB, so that several fit into a page.
CREATE FUNCTION pgmnemo._segment_size()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 16384 $$;
