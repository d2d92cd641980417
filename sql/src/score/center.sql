-- Return the cosine that question and lesson would have if they were unrelated. A text that is near to all texts, such
-- as a greeting, is also near to the question, so its center is higher: by a part of how much nearer than others it is
-- to the mean of the lessons. The whole of that distance would take away what a topic shares.
CREATE FUNCTION pgmnemo._center(asked pgmnemo.question, common float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (asked).center + coalesce(0.3 * (asked).commonness * (common - (asked).commonness), 0) $$;

COMMENT ON FUNCTION pgmnemo._center(pgmnemo.question, float8) IS 'asked.center + 0.3 * commonness * (common - commonness), asked.center without one of them; common: the cosine of the lesson and asked.common';
