-- A lexeme put behind the text has the next position. A blank is no lexeme of any text: one that the text holds past
-- position 16,383 would take no other position.
CREATE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $body$ SELECT rtrim(split_part(ts_filter(cut || $$' ':1A$$, '{a}')::text, ':', 2), 'A')::integer - 1 $body$;
