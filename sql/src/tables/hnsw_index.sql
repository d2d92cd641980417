-- Each row is an HNSW index of the vectors of a single tenant: a search passes every vector in an index, and
-- PostgreSQL's statistics show all users the rows and pages that a call met. The index is on a table, a copy of the
-- tenant's rows of pgmnemo.lesson_vector that are marked as indexed; it may be dropped at any time, and the next merge
-- rebuilds it. A merging session locks the row, and no session waits for it.
CREATE TABLE pgmnemo.hnsw_index (
    tenant_id  uuid     NOT NULL,
    generation smallint NOT NULL,
    name       name     NOT NULL,
    behind     boolean  NOT NULL DEFAULT false,
    built      boolean  NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, generation)
);

COMMENT ON TABLE pgmnemo.hnsw_index IS 'the tenants whose vectors are more than pgmnemo.hnsw_min_vectors, and where each one''s HNSW index is';
COMMENT ON COLUMN pgmnemo.hnsw_index.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.hnsw_index.generation IS 'pgmnemo.lesson_vector.generation of what it holds';
COMMENT ON COLUMN pgmnemo.hnsw_index.name IS 'the table in schema pgmnemo; where there is none, every scope is read exactly until the next merge makes it';
COMMENT ON COLUMN pgmnemo.hnsw_index.behind IS 'whether a writer has found more than about 1,000 vectors outside it: then every writer brings some in';
COMMENT ON COLUMN pgmnemo.hnsw_index.built IS 'whether the table was ever made: until then large sets are marked as being in it, and are, once it is';
