CREATE FUNCTION pgmnemo.store(
    tenant        uuid,
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
    language      text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one pgmnemo.lesson_input;
    outcome text;
    problem text;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    problem := pgmnemo._size_problem(content, topic, role, commit_sha, artifact_hash, metadata, passages);
    IF problem IS NOT NULL THEN
        PERFORM pgmnemo._refuse_lesson(NULL, external_id, problem);
    END IF;
    one := ROW(
        project_id, external_id, content, pgmnemo._checked_embedding(embedding), role, topic,
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        language);
    outcome := (SELECT s.outcome FROM pgmnemo._store(tenant, ARRAY[one], clear) s);
    PERFORM pgmnemo._leave();
    RETURN outcome;
END
$$;

COMMENT ON FUNCTION pgmnemo.store IS 'stores one lesson as store_set stores a set; returns inserted, unchanged, updated, unembedded or restored. clear names what shall have no value afterwards, among embedding, passages, role, topic, importance, metadata, occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position: what is left out stays. embedding is real[] or vector, passage_embeddings a vector for each of passages: of 1 to 4,000 dimensions, all of a tenant of as many as its first. language: what the text is cut into words by (pgmnemo._language_config): auto, a text search configuration, or a code of ISO 639 such as de; NULL: pgmnemo.text_config';
