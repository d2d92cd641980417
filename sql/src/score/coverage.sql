-- Return the weight of the words of a lesson without a rare code (pgmnemo._rare_codes). A few words of a long question
-- occur in many lessons by chance, so a lesson with a small part of the question counts in proportion to that part, and
-- fully from `enough` on. The more words a question has, the more the sum over them outgrows what their meaning can
-- add: hence brevity.
CREATE FUNCTION pgmnemo._coverage(words float8, reach float8, enough float8, brevity float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT brevity * least(1::float8, words / nullif(enough * reach, 0)) $$;

COMMENT ON FUNCTION pgmnemo._coverage(float8, float8, float8, float8) IS 'from 0 to 1: brevity, times words / (enough * reach), both in units of the score, where that is below 1';
