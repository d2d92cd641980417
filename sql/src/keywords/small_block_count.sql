-- Return how many small blocks of lessons single writes have left in a tenant's postings, beyond one partial block per
-- project.
CREATE FUNCTION pgmnemo._small_block_count(tenant uuid)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(sum(b.blocks - 1), 0)
              FROM (SELECT count(*) AS blocks FROM pgmnemo.posting p
                     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count BETWEEN 1 AND 127
                     GROUP BY p.project_id) b);
END
$$;
