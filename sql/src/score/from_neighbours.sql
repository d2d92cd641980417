-- Return the relevance that comes from one side: from the candidate next to a lesson, and across it from the
-- candidate two places away, less the longer the candidate between is. A `step` is a distance in places; a place
-- without a candidate passes no relevance on.
CREATE FUNCTION pgmnemo._from_neighbours(near_step bigint, near float8, near_words integer, far_step bigint, far float8,
                                             half_length float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN near_step = 1 THEN near ELSE 0 END
         + CASE WHEN near_step = 1 AND far_step = 2 THEN far * power(0.5::float8, least(near_words / half_length, 1000))
                ELSE 0 END
$$;
