-- Return the text search configuration of a name, optionally with its schema; NULL: it does not exist. A number is
-- no name, and a temporary configuration could disappear before the lessons parsed under it. The name is looked up
-- in the catalogue, because a cast would raise an error for a schema of another role.
CREATE FUNCTION pgmnemo._config(name text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part constant text := '([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+")';
    parts text[];
BEGIN
    IF name = 'english' THEN
        RETURN 'pg_catalog.english'::regconfig;
    ELSIF name !~ ('^' || part || '([.]' || part || ')?$') THEN
        RETURN NULL;
    END IF;
    parts := parse_ident(name);
    IF cardinality(parts) = 1 THEN
        parts := 'pg_catalog'::text || parts;
    END IF;
    RETURN (SELECT c.oid::regconfig FROM pg_ts_config c
              JOIN pg_namespace n ON n.oid = c.cfgnamespace
             WHERE n.nspname = parts[1]::name AND c.cfgname = parts[2]::name
               AND n.oid <> pg_my_temp_schema() AND NOT pg_is_other_temp_schema(n.oid));
END
$$;
