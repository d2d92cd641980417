-- Return a name for an HNSW table that no other relation has.
CREATE FUNCTION pgmnemo._hnsw_new_name()
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    free name;
BEGIN
    LOOP
        free := 'hnsw_' || nextval('pgmnemo.hnsw_seq');
        EXIT WHEN to_regclass('pgmnemo.' || free) IS NULL;
    END LOOP;
    RETURN free;
END
$$;
