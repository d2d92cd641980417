-- Each row is a lesson. Its vectors are in pgmnemo.lesson_vector, so that rows are narrow and many share a page.
CREATE TABLE pgmnemo.lesson (
    id            bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id     uuid        NOT NULL,
    project_id    uuid        NOT NULL,
    external_id   text        COLLATE "C" NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 1000),
    role          text,
    topic         text,
    content       text        NOT NULL,
    importance    smallint    NOT NULL DEFAULT 3 CHECK (importance BETWEEN 1 AND 5),
    metadata      jsonb       NOT NULL DEFAULT '{}',
    occurred_at   timestamptz CHECK (isfinite(occurred_at)),
    stored_at     timestamptz NOT NULL DEFAULT now() CHECK (isfinite(stored_at)),
    expires_at    timestamptz,
    commit_sha    text,
    artifact_hash text,
    verified_at   timestamptz,
    active        boolean     NOT NULL DEFAULT true,
    text_config   text        NOT NULL,
    lexemes       tsvector    NOT NULL DEFAULT '',
    token_count   integer     NOT NULL DEFAULT 0,
    position      integer,
    superseded_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, project_id, external_id)
);

COMMENT ON TABLE pgmnemo.lesson IS 'memories, one a row; a role reaches those of its tenants, by the verbs and the view pgmnemo.lessons';
COMMENT ON COLUMN pgmnemo.lesson.id IS 'number within the database; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.lesson.tenant_id IS 'the tenant whose row this is; row-level security goes by it';
COMMENT ON COLUMN pgmnemo.lesson.project_id IS 'the project in the tenant: what recall_lessons searches by project_id';
COMMENT ON COLUMN pgmnemo.lesson.external_id IS 'the writer''s key, unique in tenant and project, 1 to 1000 bytes; breaks ties in C order; in Unicode''s composed form (pgmnemo._nfc), as role and topic are';
COMMENT ON COLUMN pgmnemo.lesson.role IS 'who the lesson is from or for; recall_lessons can ask for one role';
COMMENT ON COLUMN pgmnemo.lesson.topic IS 'a title; its words count as words of the content';
COMMENT ON COLUMN pgmnemo.lesson.content IS 'the text itself';
COMMENT ON COLUMN pgmnemo.lesson.importance IS '1 (trifling) to 5 (vital); 3 adds nothing to the score';
COMMENT ON COLUMN pgmnemo.lesson.metadata IS 'anything; handed back by recall; filters ask it';
COMMENT ON COLUMN pgmnemo.lesson.occurred_at IS 'when it happened: the age of recency counts from here, else from stored_at';
COMMENT ON COLUMN pgmnemo.lesson.stored_at IS 'when it was first stored';
COMMENT ON COLUMN pgmnemo.lesson.expires_at IS 'from when on it is no longer recalled, unless an earlier time is asked for; NULL: never';
COMMENT ON COLUMN pgmnemo.lesson.commit_sha IS 'provenance: the commit that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.artifact_hash IS 'provenance: hash of the artefact that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.verified_at IS 'when somebody last checked it';
COMMENT ON COLUMN pgmnemo.lesson.active IS 'false once softly forgotten: out of recall and out of the statistics';
COMMENT ON COLUMN pgmnemo.lesson.text_config IS 'text search configuration that lexemes was made with; derived from pgmnemo.text_config when the text is written';
COMMENT ON COLUMN pgmnemo.lesson.lexemes IS 'pgmnemo._lexemes of topic and content; derived, whatever is written to it';
COMMENT ON COLUMN pgmnemo.lesson.token_count IS 'length for BM25: positions in lexemes; derived';
COMMENT ON COLUMN pgmnemo.lesson.position IS 'place in the order of the project''s conversation: the lessons at the places before and after are its neighbours; leave a gap where a session ends; NULL: it has none';
COMMENT ON COLUMN pgmnemo.lesson.superseded_at IS 'from when on another holds in its place: pgmnemo.supersession.valid_from of the one that was not undone; NULL: none does';
