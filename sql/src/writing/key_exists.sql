-- Return whether a lesson of a project has this key.
CREATE FUNCTION pgmnemo._key_exists(tenant uuid, project uuid, key text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pgmnemo.lesson l
                    WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key)
$$;
