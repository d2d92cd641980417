-- Return how well a time fits intervals. Reports follow events, so a memory fits longer after an interval than
-- before it. Powers are capped at a thousand halvings, because PostgreSQL raises an error for a smaller power. The
-- end does not belong to an interval: midnight belongs to the next day.
CREATE FUNCTION pgmnemo._temporal(happened timestamptz, since timestamptz[], until timestamptz[])
RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment float8 := date_part('epoch', happened);
    halvings float8 := 'Infinity';
    after float8;
BEGIN
    IF happened IS NULL OR since IS NULL OR until IS NULL THEN
        RETURN 0;
    END IF;
    FOR place IN 1 .. cardinality(since) LOOP
        after := moment - date_part('epoch', until[place]);
        halvings := least(halvings, greatest(CASE WHEN after >= 0 THEN greatest(after / (7 * 86400), 0.1) ELSE 0 END,
                                             (date_part('epoch', since[place]) - moment) / (2 * 86400)));
    END LOOP;
    RETURN CASE WHEN halvings = 'Infinity' THEN 0 ELSE power(0.5::float8, least(halvings, 1000)) END;
END
$$;

COMMENT ON FUNCTION pgmnemo._temporal(timestamptz, timestamptz[], timestamptz[]) IS 'how well a time fits the nearest of these intervals, 0 to 1: 1 within; 0.5 ^ (days / 7), at most 0.5 ^ 0.1, from its end on, 0.5 ^ (days / 2) ahead of its start; 0 without an interval or a time';
