-- Return the last position of a text: a lexeme appended to it gets the next. A blank is no lexeme of any text: a lexeme
-- that the text has past position 16,383 would take no other position.
CREATE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $body$ SELECT rtrim(split_part(ts_filter(cut || $$' ':1A$$, '{a}')::text, ':', 2), 'A')::integer - 1 $body$;
