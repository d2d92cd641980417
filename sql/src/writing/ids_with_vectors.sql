-- Return those of these lessons that have a vector, their own or a passage's.
CREATE FUNCTION pgmnemo._ids_with_vectors(tenant uuid, ids bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                  WHERE EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant AND v.lesson_id = u.id))
$$;
