CREATE FUNCTION pgmnemo.append(
    tenant        uuid,
    project_id    uuid,
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
    prefix        text        DEFAULT 'turn',
    apart         boolean     DEFAULT false,
    language      text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (external_id text, "position" integer, lesson_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    one pgmnemo.lesson_input;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._refuse_lesson(NULL, NULL, pgmnemo._size_problem(
        append.content, append.topic, append.role, append.commit_sha, append.artifact_hash, append.metadata,
        append.passages));
    one := ROW(
        append.project_id, NULL, append.content, pgmnemo._checked_embedding(append.embedding),
        append.role, append.topic,
        CASE WHEN append.importance BETWEEN 1 AND 5 THEN append.importance
             WHEN append.importance IS NOT NULL THEN 0 END, append.metadata,
        append.occurred_at, append.expires_at, append.commit_sha, append.artifact_hash,
        append.verified_at, append.passages, append.passage_embeddings, NULL, append.language);
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT n.key, n.place INTO one.external_id, one.position
      FROM pgmnemo._next_turn(tenant, append.project_id, pgmnemo._nfc(append.prefix COLLATE "default"),
                              coalesce(apart, false)) n;
    RETURN QUERY
    SELECT s.external_id, one.position, s.lesson_id FROM pgmnemo._store(tenant, ARRAY[one], NULL, true) s;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.append IS 'stores a lesson at the end of a project''s conversation, so that no writer need count: its position is the one after the project''s greatest, from 1 on (apart: one place is left free before it, where a session begins), its key prefix/position, or with the next number whose key is not taken; the other arguments are those of pgmnemo.store. Calls for one tenant wait for one another to the end of their transactions; under REPEATABLE READ one that waited is a serialization error to repeat. Returns key, position and id. tenant NULL: the session''s';
