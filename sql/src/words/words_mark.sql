-- The same for lessons with the same lexemes, cheaply: only where two have one mark their texts are compared. Of long
-- vectors the length and the bytes are enough.
CREATE FUNCTION pgmnemo._words_mark(lexemes tsvector, token_count integer)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_column_size(lexemes) <= 2000 AND pg_column_compression(lexemes) IS NULL
                THEN hash_array_extended(tsvector_to_array(lexemes), 0)
                ELSE token_count::bigint * 4294967296 + pg_column_size(lexemes) END
$$;
