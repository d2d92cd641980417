CREATE TABLE pgmnemo.segment_lesson (
    tenant_id    uuid      NOT NULL,
    segment        bigint    NOT NULL,
    row_number   integer   NOT NULL,
    lesson_ids   bigint[]  STORAGE PLAIN NOT NULL,
    token_counts integer[] STORAGE PLAIN NOT NULL,
    PRIMARY KEY (tenant_id, segment, row_number)
);

COMMENT ON TABLE pgmnemo.segment_lesson IS 'which lesson stands at which place of a segment';
COMMENT ON COLUMN pgmnemo.segment_lesson.tenant_id IS 'the tenant of the segment';
COMMENT ON COLUMN pgmnemo.segment_lesson.segment IS 'segment.number';
COMMENT ON COLUMN pgmnemo.segment_lesson.row_number IS 'place / 128';
COMMENT ON COLUMN pgmnemo.segment_lesson.lesson_ids IS 'lesson.id of 128 places, the last row''s of as many as are left';
COMMENT ON COLUMN pgmnemo.segment_lesson.token_counts IS 'for each of them lesson.token_count';
