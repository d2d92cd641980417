-- Beside the HNSW index: what is not in it is scanned exactly, and must be found without reading the rest.
CREATE INDEX lesson_unindexed ON pgmnemo.lesson (tenant_id, project_id) WHERE NOT indexed AND embedding IS NOT NULL;
