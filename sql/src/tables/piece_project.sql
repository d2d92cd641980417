CREATE TABLE pgmnemo.piece_project (
    tenant_id    uuid    NOT NULL,
    project_id   uuid    NOT NULL,
    piece        bigint  NOT NULL,
    first_place  integer NOT NULL,
    lesson_count integer NOT NULL,
    token_total  bigint  NOT NULL,
    PRIMARY KEY (tenant_id, project_id, piece)
);

COMMENT ON TABLE pgmnemo.piece_project IS 'at which places of a piece the lessons of a project stand';
COMMENT ON COLUMN pgmnemo.piece_project.tenant_id IS 'the tenant of the piece';
COMMENT ON COLUMN pgmnemo.piece_project.project_id IS 'the project';
COMMENT ON COLUMN pgmnemo.piece_project.piece IS 'piece.number';
COMMENT ON COLUMN pgmnemo.piece_project.first_place IS 'the place of its first lesson; the others follow';
COMMENT ON COLUMN pgmnemo.piece_project.lesson_count IS 'how many they are';
COMMENT ON COLUMN pgmnemo.piece_project.token_total IS 'sum of their lesson.token_count';
