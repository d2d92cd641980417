-- Create the space of a tenant that has vectors but no space, from most of its vectors.
CREATE FUNCTION pgmnemo._repair_space(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
    SELECT tenant, v.generation, @extschema:vector@.vector_dims(v.embedding)
      FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant
     GROUP BY 2, 3 ORDER BY count(*) DESC, 3 DESC LIMIT 1
        ON CONFLICT DO NOTHING
$$;
