-- Makes pieces of what postings hold where it is enough for one: of a tenant that has pieces a sixteenth of a whole
-- one, else a fourth. With it go pieces that are not whole, if it is half as much as they hold at least, or they make
-- a whole one together, so that there are few of them; and those of which a part was taken back. One statement takes
-- the postings away and lists the lessons: what another session stores meanwhile keeps its own.
CREATE FUNCTION pgmnemo._seal_pieces(tenant uuid, size integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken_back_most constant integer := size / 32;  -- lessons of a piece
    least constant integer := CASE WHEN EXISTS (SELECT FROM pgmnemo.piece c WHERE c.tenant_id = tenant)
                                   THEN size / 16 ELSE size / 4 END;
    loose constant bigint := (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                               WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0);
    worn bigint[];
    ids bigint[];
    listed bigint[];
BEGIN
    PERFORM pgmnemo._fresh_tenant(tenant);
    worn := ARRAY(
        SELECT r.piece FROM pgmnemo.piece_lesson r CROSS JOIN LATERAL unnest(r.lesson_ids) AS u (id)
          JOIN unnest(pgmnemo._taken_back(tenant)) AS g (id) ON g.id = u.id
         WHERE r.tenant_id = tenant
         GROUP BY r.piece HAVING count(*) > taken_back_most
         UNION
        SELECT c.number
          FROM (SELECT c.number, c.lesson_count, sum(c.lesson_count) OVER () AS together
                  FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.lesson_count < size) c
         WHERE c.together >= size OR loose >= least AND c.lesson_count <= 2 * loose);
    IF loose < least AND worn = '{}' THEN
        RETURN;
    END IF;
    ids := pgmnemo._drop_pieces(tenant, worn);
    WITH taken AS (
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lesson_count > 0
        RETURNING p.lexeme, p.lesson_ids
    )
    SELECT array_agg(u.id) INTO listed
      FROM taken t CROSS JOIN LATERAL unnest(t.lesson_ids) AS u (id) WHERE t.lexeme = '';
    PERFORM pgmnemo._settle(tenant, ids || listed, size, least);
END
$$;
