-- Return a cheap hash that lessons with the same lexemes share, and a question with any lead-in: only lessons with
-- equal marks have their texts compared. For long vectors the length and the bytes are enough.
CREATE FUNCTION pgmnemo._lexemes_hash(content text, lexemes tsvector, token_count integer)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pgmnemo._is_bare_question(content)
                THEN hashtextextended(pgmnemo._text_form(pgmnemo._without_lead_in(content)), 0)
                WHEN pg_column_size(lexemes) <= 2000 AND pg_column_compression(lexemes) IS NULL
                THEN hash_array_extended(tsvector_to_array(lexemes), 0)
                ELSE token_count::bigint * 4294967296 + pg_column_size(lexemes) END
$$;
