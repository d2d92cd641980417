-- Return a score on the scale of its question (pgmnemo._ideal_score).
CREATE FUNCTION pgmnemo._fit(score float8, ideal float8)
RETURNS TABLE (fit float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN ideal > 0 THEN greatest(0, least(1, score / ideal)) ELSE 0 END $$;

COMMENT ON FUNCTION pgmnemo._fit IS 'score / ideal, from 0 to 1; 0 for a question of stop words alone';
