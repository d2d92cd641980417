-- Return whether a number of small blocks of lessons, each with one per lexeme of its lessons, is worth a merge: one
-- block per four lessons, but at least a hundred, which are read quickly, and at most five hundred.
CREATE FUNCTION pgmnemo._merge_is_due(tenant uuid, loose bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF loose <= 100 OR loose > 500 THEN
        RETURN loose > 500;
    END IF;
    RETURN 4 * loose > (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                         WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0)
                       + (SELECT coalesce(sum(c.lesson_count), 0) FROM pgmnemo.segment c WHERE c.tenant_id = tenant);
END
$$;
