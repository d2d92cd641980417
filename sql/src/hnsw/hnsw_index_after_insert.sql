-- Give a restored HNSW table to the owner of the schema pgmnemo, who may have changed, and to no other role. Outside of
-- the verbs a row is inserted only when a dump is restored.
CREATE FUNCTION pgmnemo._hnsw_index_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keeper constant name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'pgmnemo');
BEGIN
    IF pgmnemo._acting_tenant() IS NULL
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('pgmnemo.' || quote_ident(NEW.name))
                      AND c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhastriggers
                      AND pg_has_role(c.relowner, 'USAGE')) THEN
        EXECUTE format('ALTER TABLE pgmnemo.%I OWNER TO %I', NEW.name, keeper);
        PERFORM pgmnemo._revoke_row_type(NEW.name);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER hnsw_index_after_insert AFTER INSERT ON pgmnemo.hnsw_index
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._hnsw_index_after_insert();
ALTER TABLE pgmnemo.hnsw_index ENABLE ALWAYS TRIGGER hnsw_index_after_insert;
