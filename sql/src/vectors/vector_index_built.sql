-- Without its graphs (pgmnemo.suspend_vector_index) every scope is read exactly, whatever its size.
CREATE FUNCTION pgmnemo._vector_index_built()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.to_regclass('pgmnemo.passage_hnsw_384') IS NOT NULL
       AND pg_catalog.to_regclass('pgmnemo.passage_hnsw_768') IS NOT NULL
       AND pg_catalog.to_regclass('pgmnemo.passage_hnsw_1024') IS NOT NULL
$$;
