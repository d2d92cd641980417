CREATE FUNCTION pgmnemo.set_language(
    tenant   uuid,
    language text,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given text COLLATE "default" := set_language.language;
    own text;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    own := pgmnemo._checked_language(regexp_replace(given, '^auto:', ''));
    IF own <> 'auto' AND starts_with(given, 'auto:') THEN
        own := 'auto:' || own;
    END IF;
    PERFORM pgmnemo._lock_tenant(tenant);
    UPDATE pgmnemo.tenant t SET language = nullif(own, 'auto') WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
    RETURN own;
END
$$;

COMMENT ON FUNCTION pgmnemo.set_language IS 'sets the language of texts that are written without one, by a session whose pgmnemo.text_config is auto: a text search configuration or a code of ISO 639 is that of all, auto recognizes the language of each, and auto:LANGUAGE, such as auto:de, takes LANGUAGE (else english) for texts that are too short to tell. Returns it as pgmnemo.language tells it. What is there stays as it is cut: pgmnemo.recut changes it. Waits for the tenant''s writers. tenant NULL: the session''s';
