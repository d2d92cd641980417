-- Whether pgvector's HNSW indexes may be trusted: before 0.8.4 a parallel build or a vacuum could spoil them. With an
-- older one every scope is read exactly, whatever its size, and no vector enters a graph.
CREATE FUNCTION pgmnemo._graphs_sound()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_to_array(substring(e.extversion FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8,4}'
      FROM pg_extension e WHERE e.extname = 'vector'
$$;
