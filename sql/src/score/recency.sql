-- Return the recency of a lesson. Its age is capped at a thousand half-lives: PostgreSQL calls a smaller power an
-- error. Moments are subtracted as numbers, because their distance may exceed an interval.
CREATE FUNCTION pgmnemo._recency(as_of timestamptz, happened timestamptz, half_life_days float8)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT power(0.5::float8, least(greatest(date_part('epoch', as_of) - date_part('epoch', happened), 0)
                                    / (86400 * half_life_days), 1000))
$$;

COMMENT ON FUNCTION pgmnemo._recency(timestamptz, timestamptz, float8) IS 'above 0, at most 1: 0.5 ^ (age in days / half-life in days); what lies after as_of has age 0';
