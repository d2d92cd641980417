CREATE FUNCTION pgmnemo.store_lesson(
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    "position"    integer     DEFAULT NULL,
    clear         text[]      DEFAULT NULL,
    language      text        DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store(
        pgmnemo._session_tenant(), project_id, external_id, content, embedding, role, topic, importance, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        clear, language);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'store for the session''s tenant';
