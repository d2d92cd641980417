-- Return the weight of a lesson's relevance. An assistant's lesson counts for less, because it repeats much of its
-- input, and so does a question of a conversation, or one with no other words than were asked. The question itself
-- counts for nothing, and adds nothing to its neighbours.
CREATE FUNCTION pgmnemo._relevance_share(repeats boolean, assistant boolean, asks boolean, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN repeats THEN 0
                ELSE CASE WHEN assistant THEN (s).assistant_weight ELSE 1 END
                     * CASE WHEN asks THEN (s).question_weight ELSE 1 END END
$$;
