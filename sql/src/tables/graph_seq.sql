-- No name is used twice: an old snapshot that knows the name of an HNSW table finds that table or no table.
CREATE SEQUENCE pgmnemo.graph_seq;

COMMENT ON SEQUENCE pgmnemo.graph_seq IS 'numbers of the tables pgmnemo.graph_<number> (pgmnemo.vector_graph)';
