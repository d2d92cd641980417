-- Check that a call that forgets by a filter has a filter.
CREATE FUNCTION pgmnemo._check_forgetting(filter jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF filter IS NULL OR filter = '{}' THEN
        RAISE EXCEPTION 'filter is %, but must say which lessons to forget', coalesce(filter::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'pgmnemo.forget_all(tenant, project_id) forgets every lesson of a project or a tenant.';
    END IF;
END
$$;
