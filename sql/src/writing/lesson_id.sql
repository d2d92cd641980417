CREATE FUNCTION pgmnemo._lesson_id(tenant uuid, project uuid, external text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key constant text := pgmnemo._stored_key(tenant, project, external);
    found_id bigint;
BEGIN
    SELECT l.id INTO found_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'project % has no lesson %', coalesce(project::text, 'NULL'), quote_nullable(external)
        USING ERRCODE = 'no_data_found', HINT = 'Store it first.';
    END IF;
    RETURN found_id;
END
$$;
