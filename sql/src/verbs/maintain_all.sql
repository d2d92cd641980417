-- Do the same as pgmnemo.maintain, but release a tenant's locks before the next tenant, and take the tenants with least
-- to do first. A procedure that commits has no settings of its own: calls before the first SET name their schema.
CREATE PROCEDURE pgmnemo.maintain_all(most integer DEFAULT 1000, INOUT "left" bigint DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    run pgmnemo.maintenance_run;
    one record;
BEGIN
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM pgmnemo._check_most(most, 1000000);
    run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    FOR one IN SELECT w.* FROM pgmnemo._maintenance_due() WITH ORDINALITY AS w
                ORDER BY max(w.waiting) OVER (PARTITION BY w.tenant), w.tenant, w.ordinality LOOP
        run := pgmnemo._maintain_one(run, one.tenant, one.generation, one.waiting, one.due, most);
        IF one.due THEN
            COMMIT;
            SET LOCAL search_path = pg_catalog, pg_temp;
        END IF;
    END LOOP;
    "left" := pgmnemo._maintenance_end(run);
END
$$;

REVOKE ALL ON PROCEDURE pgmnemo.maintain_all(integer, bigint) FROM PUBLIC;
COMMENT ON PROCEDURE pgmnemo.maintain_all(integer, bigint) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, of each at most so many (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.merge_postings), unless their writers are at work, each in a transaction of its own, those with least to do first, and drops indexes that no tenant has any more. It begins nothing more of one after five seconds (100 vectors, up to three segments of 16,384 lessons, 20,000 lists of small blocks): the next call goes on; a lost index of more than 4,000,000 numbers is filled so from the empty one, which pgmnemo.index builds at once. "left" is how many such vectors and blocks are left, with all vectors of a lost index. Only the extension''s owner may, and not within a transaction';
