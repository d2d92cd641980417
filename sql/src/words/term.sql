-- A query for one lexeme as it stands, whatever characters it has.
CREATE FUNCTION pgmnemo._term(lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery $$;
