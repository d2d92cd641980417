-- The key under which a lesson is kept that is asked for by this one: its composed form, but where an upgrade has left
-- a lesson under the very key (pgmnemo._compose_names), that.
CREATE FUNCTION pgmnemo._stored_key(tenant uuid, project uuid, given text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    composed constant text := pgmnemo._composed(given);
BEGIN
    IF composed = given OR EXISTS (
        SELECT FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = given) THEN
        RETURN given;
    END IF;
    RETURN composed;
END
$$;
