-- Return a query for a lexeme unchanged, with any characters.
CREATE FUNCTION pgmnemo._lexeme_query(lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery $$;
