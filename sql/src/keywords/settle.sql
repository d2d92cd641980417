-- Put these active lessons of a tenant, which neither postings nor pieces hold, into pieces of `size`, the last of at
-- least `least_size`, and the rest into postings. A lesson that is taken back from a piece stays out of others until
-- that piece is rebuilt.
CREATE FUNCTION pgmnemo._settle(tenant uuid, ids bigint[], size integer, least_size integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fit bigint[] := '{}';
    sealed integer := 0;
BEGIN
    IF cardinality(ids) >= least_size THEN
        fit := ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                      WHERE u.id NOT IN (SELECT unnest(pgmnemo._taken_back(tenant))) ORDER BY u.id);
    END IF;
    WHILE cardinality(fit) - sealed >= least_size LOOP
        PERFORM pgmnemo._seal(tenant, fit[sealed + 1 : sealed + size]);
        sealed := least(sealed + size, cardinality(fit));
    END LOOP;
    PERFORM pgmnemo._add_postings(tenant, CASE WHEN sealed = 0 THEN ids
                                               ELSE ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(fit[: sealed])) END);
END
$$;
