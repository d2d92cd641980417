-- Only the extension's owner reaches a table, a type for columns, or a function that is no verb: no login can lock rows
-- or tables, ask the planner about them, or make an object that depends on ours. Rights from the owner's default
-- privileges are revoked as well.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        WITH object AS (
            SELECT format('%s pgmnemo.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS name,
                   c.relowner AS owner, c.relacl AS rights
              FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'S', 'v')
             UNION ALL
            SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, p.proacl
              FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace AND starts_with(p.proname, '_')
             UNION ALL
            SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl
              FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typtype = 'c'
        )
        SELECT o.name, 'PUBLIC' AS holder FROM object o
         UNION
        SELECT o.name, quote_ident(pg_get_userbyid(a.grantee))
          FROM object o CROSS JOIN LATERAL aclexplode(o.rights) a
         WHERE a.grantee NOT IN (0, o.owner)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', item.name, item.holder);
    END LOOP;
    -- The plans within verbs hold estimates, which come of all tenants' rows: no caller is to have them printed. And
    -- bodies are read as they are written, whatever a caller has set.
    FOR item IN
        SELECT p.oid::regprocedure AS name FROM pg_catalog.pg_proc p
         WHERE p.pronamespace = 'pgmnemo'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET debug_print_plan = off', item.name);
        EXECUTE format('ALTER FUNCTION %s SET standard_conforming_strings = on', item.name);
    END LOOP;
END
$$;
-- A role needs a grant of a tenant: without a grant, every verb raises an error.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT SELECT ON
    pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.vectors, pgmnemo.edges, pgmnemo.postings
    TO PUBLIC;
GRANT SELECT ON pgmnemo.health TO pg_monitor;
-- These functions run with the caller's rights, before or outside of a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._session_tenant,
    pgmnemo._name_uuid, pgmnemo._sha1, pgmnemo._nfc, pgmnemo._nfc_unicode,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config, pgmnemo._zone,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number, pgmnemo._time_words, pgmnemo._times_in_english, pgmnemo._without_accents
    TO PUBLIC;
