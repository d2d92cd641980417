-- Return the default settings. Immutable, so that a plan holds the result.
CREATE FUNCTION pgmnemo._initial_settings()
RETURNS pgmnemo.settings
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_populate_record(NULL::pgmnemo.settings, jsonb_object_agg(c.name, c.initial))
      FROM pgmnemo._setting_catalogue() c
$$;
