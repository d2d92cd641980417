-- No name is used twice: an old snapshot that knows the name of an HNSW table finds that table or no table.
CREATE SEQUENCE pgmnemo.hnsw_seq;

COMMENT ON SEQUENCE pgmnemo.hnsw_seq IS 'numbers of the tables pgmnemo.hnsw_<number> (pgmnemo.hnsw_index)';
