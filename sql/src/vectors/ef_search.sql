-- Return the hnsw.ef_search for an index of so many vectors to find the `vector_recall` part of the `depth` nearest, on
-- average: a line on the safe side of measurements with MiniLM (the README's table). Between tested values, 46, 66, 81
-- and 117 give 0.95 of 50 out of 3,000, 10,000, 30,000 and 100,000; the missed part shrinks with the power 1.4 or more.
CREATE FUNCTION pgmnemo._ef_search(vectors float8, depth integer, vector_recall float8)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT least(1000, ceil(128 * power(greatest(vectors, 1) / 100000, 0.28)
                            * power(0.05 / (1 - vector_recall), 0.7) * depth / 50))::integer
$$;

COMMENT ON FUNCTION pgmnemo._ef_search IS '128 * (vectors / 100,000) ^ 0.28 * (0.05 / (1 - vector_recall)) ^ 0.7 * depth / 50, at most 1,000';
