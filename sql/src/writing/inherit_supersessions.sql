-- Restore, with `revive`, the lessons that lose their successor by a deletion; otherwise they stay out of recall,
-- and a NOTICE says so. There is no NOTICE if a later successor holds, or ended without a successor.
CREATE FUNCTION pgmnemo._inherit_supersessions(tenant uuid, forgotten bigint[], revive boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old bigint[];
BEGIN
    WITH RECURSIVE successor (old_id, id) AS (
        SELECT x.old_id, x.new_id FROM pgmnemo.supersession x
         WHERE x.tenant_id = tenant AND x.new_id = ANY (forgotten) AND x.undone_at IS NULL
           AND x.old_id <> ALL (forgotten)
         UNION
        SELECT s.old_id, x.new_id
          FROM successor s
          JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
          JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = s.id AND x.undone_at IS NULL
         WHERE s.id = ANY (forgotten) OR NOT l.active
    )
    SELECT array_agg(o.old_id) INTO old
      FROM (SELECT s.old_id
              FROM successor s LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
             GROUP BY s.old_id
            HAVING bool_and(s.id IS NOT NULL AND (s.id = ANY (forgotten) OR NOT l.active))) o;
    IF old IS NULL THEN
        RETURN;
    ELSIF revive THEN
        PERFORM pgmnemo._undo_supersede(tenant, old);
    ELSE
        RAISE NOTICE '% out of recall, superseded by what is forgotten',
              CASE cardinality(old) WHEN 1 THEN '1 lesson stays' ELSE cardinality(old) || ' lessons stay' END
        USING HINT = 'revive => true brings them back, and so does pgmnemo.undo_supersede.';
    END IF;
END
$$;
