-- Replace the secret key, with the caller's rights: the extension's owner or a superuser.
CREATE FUNCTION pgmnemo.renew_caller_key()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pgmnemo.caller_key SET key = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.renew_caller_key() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.renew_caller_key() IS 'makes a new secret by which callers are proved; after a copy of the database with its files or from a template, which holds the old one. A call that is under way may end with insufficient_privilege: repeat it. Only the extension''s owner may';
