CREATE FUNCTION pgmnemo.reembedding_due(
    tenant uuid,
    after  bigint  DEFAULT 0,
    most   integer DEFAULT 100,
    hold   boolean DEFAULT false,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (lesson_id bigint, number smallint, content text, mark bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    space pgmnemo.embedding_space;
    last bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_most(most, 10000);
    IF hold THEN
        space := pgmnemo._lock_changed_space(tenant);
    ELSE
        SELECT s.* INTO space
          FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL;
    END IF;
    last := (SELECT max(d.lesson_id) FROM pgmnemo._texts_to_reembed(space, coalesce(after, 0), most) d);
    RETURN QUERY
    SELECT d.lesson_id, d.number, t.content, pgmnemo._text_hash(t.content)
      FROM (SELECT * FROM pgmnemo._texts_to_reembed(space, coalesce(after, 0), most + 1000)) d
     CROSS JOIN LATERAL (
            SELECT l.content FROM pgmnemo.lesson l
             WHERE d.number = 0 AND l.tenant_id = tenant AND l.id = d.lesson_id
             UNION ALL
            SELECT p.content FROM pgmnemo.passage p
             WHERE d.number > 0 AND p.tenant_id = tenant AND p.lesson_id = d.lesson_id AND p.number = d.number
            OFFSET 0) t
     WHERE d.lesson_id <= last
     ORDER BY d.lesson_id, d.number;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.reembedding_due IS 'while a tenant''s embedder is being changed: the texts that have a vector of the old one and none of the new, of lessons (number 0: the content) and of passages (from 1), whether active, forgotten, superseded or expired; of the next lessons after the id after, until they are at least most (1 to 10,000), a lesson''s always together. mark tells pgmnemo.reembed of which text a vector is. No rows: none is due after that id, or no change is going on. With hold whoever stores vectors waits until the transaction ends, so that nothing more becomes due before pgmnemo.finish_reembedding: for the last few. tenant NULL: the session''s';
