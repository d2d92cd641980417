-- What becomes of lessons whose successors are about to be forgotten: with `revive` they hold again, else they stay
-- out of recall, and a NOTICE says so. Those of a successor that is itself superseded stay, for another holds.
CREATE FUNCTION pgmnemo._bequeath(tenant uuid, forgotten bigint[], revive boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old bigint[];
BEGIN
    SELECT array_agg(x.old_id) INTO old
      FROM pgmnemo.supersession x
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = x.new_id
     WHERE x.tenant_id = tenant AND x.new_id = ANY (forgotten) AND x.undone_at IS NULL
       AND l.superseded_at IS NULL AND x.old_id <> ALL (forgotten);
    IF old IS NULL THEN
        RETURN;
    ELSIF revive THEN
        PERFORM pgmnemo._undo_supersede(tenant, old);
    ELSE
        RAISE NOTICE '% superseded by what is forgotten stay out of recall',
              CASE cardinality(old) WHEN 1 THEN '1 lesson' ELSE cardinality(old) || ' lessons' END
        USING HINT = 'revive => true brings them back, and so does pgmnemo.undo_supersede.';
    END IF;
END
$$;
