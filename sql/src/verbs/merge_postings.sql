CREATE FUNCTION pgmnemo.merge_postings(tenant uuid DEFAULT NULL, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    merged bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._lock_tenant(tenant);
    merged := pgmnemo._merge_postings(tenant);
    PERFORM pgmnemo._leave();
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.merge_postings IS 'merges the many small blocks that single writes leave in pgmnemo.posting, and makes segments (pgmnemo.segment) of what is enough for them; answers stay the same, recall gets faster. It does all that there is to do (pgmnemo.maintain_all: for five seconds a call). Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
