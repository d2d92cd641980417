-- Each row is a tenant with vectors, from its first vector on. A session that writes vectors locks it FOR KEY SHARE to
-- the end of its transaction, so that no other session removes the dimension meanwhile, or makes other vectors serve.
CREATE TABLE pgmnemo.embedding_space (
    tenant_id       uuid     PRIMARY KEY,
    generation      smallint NOT NULL,
    dimensions      integer  NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    embedder        text     CHECK (octet_length(embedder) BETWEEN 1 AND 1000),
    next_generation smallint CHECK (next_generation <> generation),
    next_dimensions integer  CHECK (next_dimensions BETWEEN 1 AND 4000),
    next_embedder   text     CHECK (octet_length(next_embedder) BETWEEN 1 AND 1000),
    CHECK ((next_generation IS NULL) = (next_dimensions IS NULL)),
    CHECK (next_generation IS NOT NULL OR next_embedder IS NULL)
);

COMMENT ON TABLE pgmnemo.embedding_space IS 'of which dimension a tenant''s vectors are, and which of them serve; written by the verbs';
COMMENT ON COLUMN pgmnemo.embedding_space.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.embedding_space.generation IS 'pgmnemo.lesson_vector.generation of those that serve';
COMMENT ON COLUMN pgmnemo.embedding_space.dimensions IS 'their dimension, 1 to 4,000';
COMMENT ON COLUMN pgmnemo.embedding_space.embedder IS 'what made them, by the name that pgmnemo.set_embedder or pgmnemo.begin_reembedding gave; NULL: nobody said';
COMMENT ON COLUMN pgmnemo.embedding_space.next_generation IS 'while another embedder makes them anew: the generation that is being filled; NULL: none is';
COMMENT ON COLUMN pgmnemo.embedding_space.next_dimensions IS 'the dimension of that generation';
COMMENT ON COLUMN pgmnemo.embedding_space.next_embedder IS 'what makes that generation';
