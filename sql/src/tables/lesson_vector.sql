-- Each row is a vector of a lesson or passage. The key leads by the lesson, lesson_vector_scope by the scope. The
-- widest vector fills a page: no row is ever moved out of line.
CREATE TABLE pgmnemo.lesson_vector (
    tenant_id  uuid     NOT NULL,
    generation smallint NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 0),
    indexed    boolean  NOT NULL DEFAULT false,
    embedding  @extschema:vector@.halfvec STORAGE PLAIN NOT NULL
               CONSTRAINT lesson_vector_norm_check CHECK (@extschema:vector@.l2_norm(embedding) BETWEEN 0.99 AND 1.01),
    PRIMARY KEY (tenant_id, lesson_id, generation, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE
);

COMMENT ON TABLE pgmnemo.lesson_vector IS 'the vectors of lessons and passages, all that one generation of a tenant holds of one dimension (pgmnemo.embedding_space); written by the verbs';
COMMENT ON COLUMN pgmnemo.lesson_vector.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_vector.generation IS 'the embedder that made it: pgmnemo.embedding_space.generation is the one that serves';
COMMENT ON COLUMN pgmnemo.lesson_vector.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_vector.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.lesson_vector.number IS '0: the lesson as a whole; from 1: the passage of that number';
COMMENT ON COLUMN pgmnemo.lesson_vector.indexed IS 'whether the tenant''s HNSW index holds it, too (pgmnemo.hnsw_index); otherwise it is scanned';
COMMENT ON COLUMN pgmnemo.lesson_vector.embedding IS 'unit length, half precision, of the tenant''s dimension';
