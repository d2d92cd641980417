-- Return the recallable lessons of one project with few lessons; NULL for a larger project or several projects.
CREATE FUNCTION pgmnemo._small_project(scope pgmnemo.scope)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few constant integer := 2000;
    found bigint[];
BEGIN
    IF scope.first_project = scope.last_project THEN
        found := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND l.project_id = scope.first_project LIMIT few + 1);
    END IF;
    RETURN CASE WHEN cardinality(found) <= few THEN pgmnemo._recallable_ids(scope, found, few) END;
END
$$;
