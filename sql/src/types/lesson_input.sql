CREATE TYPE pgmnemo.lesson_input AS (
    project_id         uuid,
    external_id        text,
    content            text,
    embedding          @extschema:vector@.vector,
    role               text,
    topic              text,
    importance         smallint,
    metadata           jsonb,
    occurred_at        timestamptz,
    expires_at         timestamptz,
    commit_sha         text,
    artifact_hash      text,
    verified_at        timestamptz,
    passages           text[],
    passage_embeddings @extschema:vector@.vector[],
    position           integer,
    language           text
);

COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson, the texts and vectors of its passages, and the language of its text (auto, a text search configuration or a code of ISO 639; NULL: the session''s pgmnemo.text_config); the first three are required; of a lesson that is there already what is NULL stays; of a new one importance NULL is 3 and metadata NULL {}';
