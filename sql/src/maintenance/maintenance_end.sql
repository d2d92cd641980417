-- End a run: drop HNSW tables that belong to no tenant, record what the run left to do, and return it.
CREATE FUNCTION pgmnemo._maintenance_end(run pgmnemo.maintenance_run)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM pgmnemo._hnsw_drop_orphans();
    -- a dump, and so pg_upgrade, leaves these open
    PERFORM pgmnemo._revoke_row_type(c.relname) FROM pg_class c
      WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'v')
        AND has_type_privilege('public', c.reltype, 'USAGE');
    UPDATE pgmnemo.maintenance_run u
       SET began = run.began, seconds = extract(epoch FROM clock_timestamp() - run.began),
           merged = coalesce(run.merged, u.merged), vectors_waiting = run.vectors_waiting,
           blocks_waiting = run.blocks_waiting, "left" = run."left", skipped = run.skipped
     WHERE u.ctid IN (SELECT r.ctid FROM pgmnemo.maintenance_run r FOR UPDATE SKIP LOCKED);
    RETURN run."left";
END
$$;
