-- Maintain all tenants, with the caller's rights: the extension's owner or a superuser.
CREATE FUNCTION pgmnemo.maintain(most integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '10 seconds';
    budget bigint := most;
    run pgmnemo.maintenance_run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    one record;
BEGIN
    PERFORM pgmnemo._check_most(most, 1000000);
    FOR one IN SELECT * FROM pgmnemo._maintenance_due() LOOP
        run := pgmnemo._maintain_one(run, one.tenant, one.generation, one.waiting, one.due,
                                   CASE WHEN clock_timestamp() < enough THEN budget ELSE 0 END);
        IF one.due THEN
            budget := budget - one.waiting;
        END IF;
    END LOOP;
    RETURN pgmnemo._maintenance_end(run);
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.maintain(integer) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.maintain(integer) IS 'what pgmnemo.maintain_all does, in one transaction: what it changes it holds to its end. Of vectors and small blocks at most so many together (1 to 1,000,000), and it begins nothing after ten seconds. Returns how many are left: call again until it is 0. Only the extension''s owner may';
