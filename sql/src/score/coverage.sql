-- The share that a lesson's words count with. A few words of a long question stand in many lessons by chance, so what
-- holds a small part of the question counts in proportion to that part; from `enough` on it counts whole.
CREATE FUNCTION pgmnemo._coverage(words float8, reach float8, enough float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN words < enough * reach THEN words / (enough * reach) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._coverage(float8, float8, float8) IS 'from 0 to 1: words / (enough * reach), both in units of the score, where that is below 1; 1 where no words are asked';
