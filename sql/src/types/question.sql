-- A recall's question, with its statistics.
CREATE TYPE pgmnemo.question AS (
    held      bigint,
    terms     text[],
    queries   tsquery[],
    idfs      float8[],
    scales    float8[],
    peaks     float8[],
    postings  bigint[],
    flat      float8,
    per_token float8,
    pivot     float8,
    direction @extschema:vector@.halfvec,
    since     timestamptz[],
    until     timestamptz[],
    ideal     float8,
    share     float8,
    listed    bigint[],
    tops      float8[],
    generation smallint,
    hnsw_table text,
    reach     float8,
    center    float8,
    brevity   float8,
    repeated  text[],
    common    @extschema:vector@.halfvec,
    commonness float8,
    collapse  boolean,
    configs   regconfig[]
);

COMMENT ON TYPE pgmnemo.question IS 'held: active lessons in scope; terms: lexemes of the question that occur, rarest first, and for each a tsquery, its idf, its scale (pgmnemo._impact), the most that it can add to a BM25 in scope (units of 2^-40) of a lesson that no segment holds, the lessons in scope that hold it, how many of those are in postings, and the most that it can add to one that a segment holds (0: none does); flat, per_token, pivot: see pgmnemo._impact; direction: the embedding at unit length, of as many dimensions as the tenant''s; generation: which vectors it is compared with, and hnsw_table: the table with the HNSW index of these vectors (NULL: none); since, until: the intervals that it names; ideal: see pgmnemo._fit; share: what fitting these intervals counts for; reach: the score of a lesson that holds every word of the question; brevity: see pgmnemo._brevity; center: the cosine of unrelated texts; common, commonness: direction and length of the mean of their vectors (all three of pgmnemo._with_background, NULL: no vector to compare with); repeated: the lexemes of which a lesson that is the question itself has no other (NULL: none is taken for it); collapse: equal lessons are one hit; configs: what lessons of the tenant were cut by (pgmnemo._tenant_configs), NULL: the question is blank';
