CREATE FUNCTION pgmnemo.list_vectors(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.lesson_vector
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.lesson_vector t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_vectors IS 'the vectors of lessons and passages of a tenant as they are kept; pgmnemo.vectors shows those of the session''s tenant';
