CREATE FUNCTION pgmnemo.list_passages(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.passage
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.passage t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_passages IS 'the passages of lessons of a tenant as they are kept; pgmnemo.passages shows those of the session''s tenant';
