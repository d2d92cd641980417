-- Return the weight of a question's words, by their number. A lesson contains a part of a long question, and that
-- part is assumed to grow with the square root of the question's length.
CREATE FUNCTION pgmnemo._brevity(words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN words > 12 THEN sqrt(12.0::float8 / words) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._brevity(integer) IS 'from 0 to 1: sqrt(12 / words) for more than 12 words, else 1';
