CREATE FUNCTION pgmnemo.list_edges(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.lesson_edge
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.lesson_edge t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_edges IS 'the links of a tenant as they are kept; pgmnemo.edges shows those of the session''s tenant';
