-- Create an empty HNSW table for a tenant and record its name in the tenant's row of hnsw_index, which the caller has
-- locked. Row-level security protects it like every table: its rows show while a verb acts for the tenant. The table is
-- no member of the extension, so that a dump includes it; its owner is that of the other tables, because plain SQL has
-- no extension.
CREATE FUNCTION pgmnemo._hnsw_create_table(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._hnsw_new_name();
    keeper constant name := (SELECT pg_get_userbyid(c.relowner) FROM pg_class c
                              WHERE c.oid = 'pgmnemo.lesson_vector'::regclass);
    other text;
BEGIN
    EXECUTE format('CREATE TABLE pgmnemo.%I (lesson_id bigint NOT NULL, number smallint NOT NULL, '
                   'project_id uuid NOT NULL, embedding @extschema:vector@.halfvec(%s) STORAGE PLAIN NOT NULL)',
                   made, pgmnemo._generation_dimensions(tenant, generation));
    EXECUTE format('ALTER TABLE pgmnemo.%I OWNER TO %I, ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
                   made, keeper);
    EXECUTE format('CREATE POLICY acting_tenant ON pgmnemo.%I USING ((SELECT pgmnemo._acting_hnsw_table(%L)))',
                   made, made);
    PERFORM pgmnemo._revoke_row_type(made);
    -- what the owner's default privileges gave to others
    FOR other IN
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
          FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
         WHERE c.oid = to_regclass('pgmnemo.' || made) AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON pgmnemo.%I FROM %s CASCADE', made, other);
    END LOOP;
    UPDATE pgmnemo.hnsw_index g SET name = made, built = true
     WHERE g.tenant_id = tenant AND g.generation = _hnsw_create_table.generation;
    RETURN made;
END
$$;
