-- Return whether an HNSW index of the marked vectors and `entering` more can be built in about five seconds: 10,000
-- vectors of 384 dimensions on one core.
CREATE FUNCTION pgmnemo._hnsw_builds_soon(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    numbers constant bigint := 4000000;
    room constant bigint := numbers / pgmnemo._generation_dimensions(tenant, generation) - entering;
BEGIN
    RETURN room >= 0 AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                      WHERE v.tenant_id = tenant AND v.generation = _hnsw_builds_soon.generation
                                        AND v.indexed
                                     OFFSET room);
END
$$;
