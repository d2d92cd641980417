-- A word put behind the text has the next position; weight A tells it from every other.
CREATE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT rtrim(split_part(ts_filter(cut || 'end:1A', '{a}')::text, ':', 2), 'A')::integer - 1 $$;
