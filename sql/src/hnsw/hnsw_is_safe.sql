-- Return whether pgvector's HNSW indexes are safe: before 0.8.4 a parallel build or a vacuum could spoil them. Under an
-- older version every scope is read exactly, at any size, and no vector enters an index.
CREATE FUNCTION pgmnemo._hnsw_is_safe()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_to_array(substring(e.extversion FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8,4}'
      FROM pg_extension e WHERE e.extname = 'vector'
$$;
