-- Add a row of pgmnemo._maintenance_due to the counts of a run. If it is due and `most` is above 0, process it:
-- insert up to `most` vectors into an HNSW index, or merge the postings, and start nothing more after five seconds.
-- The rest waits for the next run. Tenants locked by writers and damaged data stay as they are.
CREATE FUNCTION pgmnemo._maintain_one(
    run        pgmnemo.maintenance_run,
    tenant     uuid,
    generation smallint,
    waiting    bigint,
    due        boolean,
    most       bigint
)
RETURNS pgmnemo.maintenance_run
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '5 seconds';
    fewer bigint := 0;
BEGIN
    IF due AND most > 0 THEN
        BEGIN
            PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
            IF generation IS NULL THEN
                IF pgmnemo._try_lock_tenant(tenant) THEN
                    PERFORM pgmnemo._merge_postings(tenant, enough);
                    fewer := waiting - pgmnemo._small_block_count(tenant);
                END IF;
            ELSIF pgmnemo._generation_dimensions(tenant, generation) IS NULL THEN
                PERFORM pgmnemo._drop_generation(tenant, generation) WHERE pgmnemo._try_lock_tenant(tenant);
            ELSE
                PERFORM pgmnemo._hnsw_insert_waiting(tenant, generation, most, enough);
                fewer := waiting - pgmnemo._unindexed_total(tenant, generation);
            END IF;
            PERFORM pgmnemo._leave();
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
            WHEN OTHERS THEN
                RAISE WARNING '% of tenant % stays as it is: %',
                              CASE WHEN generation IS NULL THEN 'the keyword index' ELSE 'the HNSW index' END,
                              quote_literal(tenant), SQLERRM;
        END;
    END IF;
    fewer := greatest(fewer, 0);  -- others may have stored more meanwhile
    IF generation IS NULL THEN
        run.blocks_waiting := run.blocks_waiting + waiting - fewer;
    ELSE
        run.vectors_waiting := run.vectors_waiting + waiting - fewer;
    END IF;
    IF due THEN
        run."left" := run."left" + waiting - fewer;
        run.skipped := run.skipped + (fewer = 0 AND waiting > 0)::integer;
    END IF;
    IF fewer > 0 THEN
        run.merged := clock_timestamp();
    END IF;
    RETURN run;
END
$$;
