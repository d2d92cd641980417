-- Nobody but the extension's owner reaches a table, a type for columns of his own, or a function that is no verb: no
-- login can lock rows or tables, ask the planner about them, or make an object that depends on ours.
DO $$
DECLARE
    object text;
BEGIN
    FOR object IN
        SELECT format('%s pgmnemo.%I', CASE WHEN c.relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname)
          FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'S', 'v')
         UNION ALL
        SELECT format('FUNCTION %s', p.oid::regprocedure)
          FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace AND starts_with(p.proname, '_')
         UNION ALL
        SELECT format('TYPE %s', t.oid::regtype)
          FROM pg_catalog.pg_type t
         WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typtype = 'c'
    LOOP
        EXECUTE 'REVOKE ALL ON ' || object || ' FROM PUBLIC';
    END LOOP;
END
$$;
-- What a role may do is decided by its grants of tenants: without one, every verb refuses.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT SELECT ON pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.edges, pgmnemo.postings TO PUBLIC;
-- Run with the rights of whoever calls, before or beside a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._proof, pgmnemo._session_tenant,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number
    TO PUBLIC;
