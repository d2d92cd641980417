-- The text search configuration of a name, which may have its schema in front; NULL where there is none. A number is no
-- name, and what is temporary would be gone before the lessons that were cut by it.
CREATE FUNCTION pgmnemo._config(name text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF name = 'english' THEN
        RETURN 'pg_catalog.english'::regconfig;
    ELSIF name !~ '^([^".0-9-][^".]*|"[^"]+")(\.([^".]+|"[^"]+"))?$' OR NOT pg_input_is_valid(name, 'regconfig') THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT c.oid::regconfig FROM pg_ts_config c
             WHERE c.oid = name::regconfig AND c.cfgnamespace <> pg_my_temp_schema());
END
$$;
