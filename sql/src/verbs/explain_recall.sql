CREATE FUNCTION pgmnemo.explain_recall(
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM pgmnemo.explain(pgmnemo._session_tenant(), project_id, external_id, embedding, query_text,
                                  as_of, valid_at, role, mode, k, in_project, filter, known_at, windows,
                                  NULL);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'explain for the session''s tenant, of how pgmnemo.recall_lessons ranks: with duplicates NULL';
