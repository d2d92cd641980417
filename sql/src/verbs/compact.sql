CREATE FUNCTION pgmnemo.compact(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    merged bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._lock_tenant(tenant);
    merged := pgmnemo._merge_postings(tenant);
    PERFORM pgmnemo._leave();
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.compact IS 'merges the many small blocks that single writes leave in pgmnemo.posting, and makes segments (pgmnemo.segment) of what is enough for them; answers stay the same, recall gets faster. It does all that there is to do (pgmnemo.upkeep_each: for five seconds a call). Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
