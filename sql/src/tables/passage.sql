-- What a lesson is found by besides its words as a whole. Rows are narrow, and the covering index below keeps
-- the vectors of a tenant together, whatever order they came in.
CREATE TABLE pgmnemo.passage (
    tenant_id  uuid     NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 0),
    indexed    boolean  NOT NULL DEFAULT false,
    width      smallint CHECK (width IN (384, 768, 1024)),
    content    text     CHECK ((content IS NULL) = (number = 0)),
    lexemes    tsvector,
    embedding  @extschema:vector@.halfvec STORAGE PLAIN,
    PRIMARY KEY (tenant_id, lesson_id, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    CHECK ((embedding IS NULL) = (width IS NULL)),
    CHECK (@extschema:vector@.vector_dims(embedding) = width),
    CONSTRAINT passage_norm_check CHECK (@extschema:vector@.l2_norm(embedding) BETWEEN 0.99 AND 1.01)
);

COMMENT ON TABLE pgmnemo.passage IS 'the vectors of lessons and the parts of their text that are searched one by one; written by the verbs';
COMMENT ON COLUMN pgmnemo.passage.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.passage.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.passage.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.passage.number IS '0: the lesson as a whole; from 1: its passages in order';
COMMENT ON COLUMN pgmnemo.passage.indexed IS 'whether the vector is in an HNSW index; set by the verbs (pgmnemo.exact_scan_limit)';
COMMENT ON COLUMN pgmnemo.passage.width IS 'dimensions that are stored: 384, 768 or 1,024; what lies beyond is zero';
COMMENT ON COLUMN pgmnemo.passage.content IS 'the text of the passage; NULL for the lesson as a whole';
COMMENT ON COLUMN pgmnemo.passage.lexemes IS 'pgmnemo._lexemes of the text; NULL for the lesson as a whole';
COMMENT ON COLUMN pgmnemo.passage.embedding IS 'unit length, half precision, without trailing zeros; NULL: found by its words alone';
