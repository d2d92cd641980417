-- Return whether a tenant has more vectors of a generation than a limit.
CREATE FUNCTION pgmnemo._has_more_vectors(tenant uuid, generation smallint, than bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.lesson_vector v
                    WHERE v.tenant_id = tenant AND v.generation = _has_more_vectors.generation OFFSET than);
END
$$;
