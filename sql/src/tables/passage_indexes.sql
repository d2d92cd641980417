-- Small scopes are read from here, exactly and without the table; their vectors never enter the graphs.
CREATE INDEX passage_scope ON pgmnemo.passage (tenant_id, indexed, width, project_id, lesson_id, number)
    INCLUDE (embedding)
    WHERE embedding IS NOT NULL;
-- One graph a width. Of unit vectors the inner product is the cosine.
CREATE INDEX passage_hnsw_384 ON pgmnemo.passage
    USING hnsw ((embedding::@extschema:vector@.halfvec(384)) @extschema:vector@.halfvec_ip_ops)
    WHERE indexed AND width = 384;
CREATE INDEX passage_hnsw_768 ON pgmnemo.passage
    USING hnsw ((embedding::@extschema:vector@.halfvec(768)) @extschema:vector@.halfvec_ip_ops)
    WHERE indexed AND width = 768;
CREATE INDEX passage_hnsw_1024 ON pgmnemo.passage
    USING hnsw ((embedding::@extschema:vector@.halfvec(1024)) @extschema:vector@.halfvec_ip_ops)
    WHERE indexed AND width = 1024;
