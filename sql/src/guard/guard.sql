-- Each name in this script is in pg_catalog or has its schema: other roles may create objects in pgvector's schema,
-- which must not run in place of objects of pg_catalog. PostgreSQL shows no NOTICE of a script, so notes are
-- WARNINGs.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- The owner of the schema can create objects in it and drop the extension's objects. So the schema must be empty and
-- belong to the creator; a superuser takes over an empty schema, because a dump creates the schema before the
-- extension.
DO $$
DECLARE
    keeper name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pgmnemo');
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace)
       OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace)
       OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace) THEN
        RAISE EXCEPTION 'schema pgmnemo holds objects of others, and they would run in place of ours'
        USING ERRCODE = 'duplicate_object',
              HINT = 'Look at them with \df pgmnemo.* and \d pgmnemo.*, then drop or move them.';
    ELSIF keeper = current_user THEN
        NULL;
    ELSIF (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        ALTER SCHEMA pgmnemo OWNER TO CURRENT_USER;
    ELSE
        RAISE EXCEPTION 'schema pgmnemo belongs to role %, who could replace what is in it', quote_ident(keeper)
        USING ERRCODE = 'insufficient_privilege',
              HINT = format('DROP SCHEMA pgmnemo, or ALTER SCHEMA pgmnemo OWNER TO %I, and try again.', current_user);
    END IF;
    IF (SELECT r.rolsuper OR r.rolbypassrls FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        RAISE WARNING 'the extension is owned by %, whom no row-level security binds: only the verbs '
                      'then keep tenants apart',
              quote_ident(current_user)
        USING HINT = 'For two walls, SET ROLE to an ordinary role that may create in this database, and create it '
                     'there.';
    END IF;
END
$$;
