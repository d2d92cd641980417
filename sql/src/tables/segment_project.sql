CREATE TABLE pgmnemo.segment_project (
    tenant_id    uuid    NOT NULL,
    project_id   uuid    NOT NULL,
    segment        bigint  NOT NULL,
    first_place  integer NOT NULL,
    lesson_count integer NOT NULL,
    token_total  bigint  NOT NULL,
    PRIMARY KEY (tenant_id, project_id, segment)
);

COMMENT ON TABLE pgmnemo.segment_project IS 'at which places of a segment the lessons of a project stand';
COMMENT ON COLUMN pgmnemo.segment_project.tenant_id IS 'the tenant of the segment';
COMMENT ON COLUMN pgmnemo.segment_project.project_id IS 'the project';
COMMENT ON COLUMN pgmnemo.segment_project.segment IS 'segment.number';
COMMENT ON COLUMN pgmnemo.segment_project.first_place IS 'the place of its first lesson; the others follow';
COMMENT ON COLUMN pgmnemo.segment_project.lesson_count IS 'how many they are';
COMMENT ON COLUMN pgmnemo.segment_project.token_total IS 'sum of their lesson.token_count';
