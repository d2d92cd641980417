-- Return the existing configurations that the lessons of a tenant were parsed under; english for a tenant without
-- lessons.
CREATE FUNCTION pgmnemo._tenant_configs(tenant uuid)
RETURNS regconfig[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 50;
    configs regconfig[] := '{}';
    last text := '';
BEGIN
    FOR place IN 1 .. most LOOP
        last := (SELECT l.text_config FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.text_config COLLATE "C" > last
                  ORDER BY l.text_config COLLATE "C" LIMIT 1);
        EXIT WHEN last IS NULL;
        configs := array_remove(configs || pgmnemo._config(last), NULL);
    END LOOP;
    RETURN CASE WHEN configs = '{}' THEN '{pg_catalog.english}' ELSE configs END;
END
$$;
