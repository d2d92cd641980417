-- Put these active lessons of a tenant, which neither postings nor segments hold, into segments of `size`, the last of
-- at least `least_size`, and the rest into postings. A lesson that is undone in a segment stays out of others
-- until that segment is rebuilt.
CREATE FUNCTION pgmnemo._write_segments(tenant uuid, ids bigint[], size integer, least_size integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fit bigint[] := '{}';
    written integer := 0;
BEGIN
    IF cardinality(ids) >= least_size THEN
        fit := ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                      WHERE u.id NOT IN (SELECT unnest(pgmnemo._undone_postings(tenant))) ORDER BY u.id);
    END IF;
    WHILE cardinality(fit) - written >= least_size LOOP
        PERFORM pgmnemo._write_segment(tenant, fit[written + 1 : written + size]);
        written := least(written + size, cardinality(fit));
    END LOOP;
    PERFORM pgmnemo._add_postings(tenant, CASE WHEN written = 0 THEN ids
                                               ELSE ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(fit[: written])) END);
END
$$;
