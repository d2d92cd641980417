-- Each row is a metadata entry of a lesson. A GIN index would not do: no operator of jsonb is leakproof, so row-level
-- security keeps them from searching an index.
CREATE TABLE pgmnemo.lesson_entry (
    tenant_id uuid   NOT NULL,
    entry     bigint NOT NULL,
    lesson_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, entry, lesson_id)
);

COMMENT ON TABLE pgmnemo.lesson_entry IS 'the index of pgmnemo.lesson.metadata, kept by triggers on pgmnemo.lesson: never write it';
COMMENT ON COLUMN pgmnemo.lesson_entry.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_entry.entry IS 'a path in the metadata with a value, as pgmnemo._metadata_entry makes it; 0: the lesson may hold any';
COMMENT ON COLUMN pgmnemo.lesson_entry.lesson_id IS 'lesson.id that holds it';
