-- Lessons of small scopes are scanned exactly and never enter this index (pgmnemo.exact_scan_limit).
CREATE INDEX lesson_embedding_hnsw ON pgmnemo.lesson USING hnsw (embedding vector_cosine_ops) WHERE indexed;
