CREATE FUNCTION pgmnemo.link_lessons(
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    weight         float8      DEFAULT 1,
    valid_from     timestamptz DEFAULT NULL,
    valid_to       timestamptz DEFAULT NULL,
    target_project uuid        DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.link(pgmnemo._session_tenant(), project_id, source, target, kind, weight, valid_from,
                        valid_to, target_project);
END
$$;

COMMENT ON FUNCTION pgmnemo.link_lessons IS 'link for the session''s tenant';
