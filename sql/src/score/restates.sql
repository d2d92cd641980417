-- Return whether a lesson restates an older lesson that fits about as well: it is newer, scores at most 10 % less
-- (another wording of the same statement changes as much), and they share at least a quarter of their words.
CREATE FUNCTION pgmnemo._restates(score float8, happened timestamptz, lexemes tsvector,
                                  older_score float8, older_happened timestamptz, older_lexemes tsvector)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN happened > older_happened AND score >= 0.9 * older_score
                THEN coalesce(pgmnemo._word_overlap(older_lexemes, lexemes) >= 0.25::float8, false)
                ELSE false END
$$;
