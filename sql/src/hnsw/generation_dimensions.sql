-- Return the dimension of a generation of a tenant's vectors; NULL: its space has no such generation.
CREATE FUNCTION pgmnemo._generation_dimensions(tenant uuid, generation smallint)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE _generation_dimensions.generation WHEN s.generation THEN s.dimensions
                                          WHEN s.next_generation THEN s.next_dimensions END
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant
$$;
