CREATE TABLE pgmnemo.lesson_edge (
    tenant_id  uuid   NOT NULL,
    source_id  bigint NOT NULL,
    target_id  bigint NOT NULL,
    kind       text   NOT NULL CHECK (octet_length(kind) BETWEEN 1 AND 1000),
    weight     real   NOT NULL DEFAULT 1 CHECK (weight > 0 AND weight <= 1),
    valid_from timestamptz,
    valid_to   timestamptz,
    PRIMARY KEY (tenant_id, source_id, target_id, kind),
    FOREIGN KEY (tenant_id, source_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    CHECK (source_id <> target_id),
    CHECK (valid_to > valid_from)
);

COMMENT ON TABLE pgmnemo.lesson_edge IS 'typed, weighted, directed links between lessons of one tenant; gone with either end';
COMMENT ON COLUMN pgmnemo.lesson_edge.tenant_id IS 'the tenant of both ends';
COMMENT ON COLUMN pgmnemo.lesson_edge.source_id IS 'lesson.id that the edge leaves';
COMMENT ON COLUMN pgmnemo.lesson_edge.target_id IS 'lesson.id that the edge reaches';
COMMENT ON COLUMN pgmnemo.lesson_edge.kind IS 'type of the link, 1 to 1000 bytes, such as follows, explains, replaces; two lessons may have one edge of each kind';
COMMENT ON COLUMN pgmnemo.lesson_edge.weight IS 'above 0, at most 1: half of it is the share of relevance that passes';
COMMENT ON COLUMN pgmnemo.lesson_edge.valid_from IS 'first moment at which a recall with valid_at follows the edge; NULL: always';
COMMENT ON COLUMN pgmnemo.lesson_edge.valid_to IS 'from when on a recall with valid_at no longer follows it; NULL: never';
