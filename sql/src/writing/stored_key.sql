-- Return the stored key of a lesson for a given key: the composed form, unless an upgrade has left a lesson under the
-- given key itself (pgmnemo._compose_names).
CREATE FUNCTION pgmnemo._stored_key(tenant uuid, project uuid, given text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    composed constant text := pgmnemo._nfc(given);
BEGIN
    IF composed = given OR EXISTS (
        SELECT FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = given) THEN
        RETURN given;
    END IF;
    RETURN composed;
END
$$;
