-- Return the number of vectors that may wait before writers insert them: a scan of a thousand takes about a
-- millisecond.
CREATE FUNCTION pgmnemo._unindexed_limit(hnsw_min_vectors bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT least(1000, hnsw_min_vectors) $$;
