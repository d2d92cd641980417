CREATE FUNCTION pgmnemo.list_postings(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.posting
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.posting t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_postings IS 'the postings of a tenant as they are kept; pgmnemo.postings shows those of the session''s tenant';
