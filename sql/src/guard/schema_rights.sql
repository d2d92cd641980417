-- Revoke rights on the schema that the owner's default privileges, or a former owner, gave.
DO $$
DECLARE
    other oid;
BEGIN
    REVOKE CREATE ON SCHEMA pgmnemo FROM PUBLIC;
    FOR other IN
        SELECT DISTINCT a.grantee FROM pg_namespace n, aclexplode(n.nspacl) a
         WHERE n.nspname = 'pgmnemo' AND a.grantee NOT IN (0, n.nspowner)
    LOOP
        EXECUTE format('REVOKE CREATE ON SCHEMA pgmnemo FROM %I CASCADE', pg_get_userbyid(other));
    END LOOP;
END
$$;
