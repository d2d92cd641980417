-- Let the next vector of a tenant without vectors set their dimension again, unless a session is writing a vector. The
-- row is locked first and read in another statement, which sees all earlier writes.
CREATE FUNCTION pgmnemo._remove_empty_space(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        DELETE FROM pgmnemo.embedding_space s
         WHERE s.tenant_id = tenant AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant);
    END IF;
END
$$;
