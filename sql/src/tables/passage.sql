-- Each row is a part of a lesson's text that is searched by itself. Vectors are in pgmnemo.lesson_vector.
CREATE TABLE pgmnemo.passage (
    tenant_id  uuid     NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 1),
    content    text     NOT NULL,
    lexemes    tsvector NOT NULL,
    PRIMARY KEY (tenant_id, lesson_id, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE
);

COMMENT ON TABLE pgmnemo.passage IS 'the parts of lessons'' texts that are searched one by one; written by the verbs';
COMMENT ON COLUMN pgmnemo.passage.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.passage.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.passage.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.passage.number IS 'from 1: the passages of a lesson in order';
COMMENT ON COLUMN pgmnemo.passage.content IS 'the text of the passage';
COMMENT ON COLUMN pgmnemo.passage.lexemes IS 'pgmnemo._lexemes of the text';
