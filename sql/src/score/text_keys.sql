-- Return the keys that equal lessons share (pgmnemo._text_key); texts are read only where lexemes are equal.
CREATE FUNCTION pgmnemo._text_keys(scope pgmnemo.scope, ids bigint[])
RETURNS TABLE (lesson_id bigint, text_key bigint, alone boolean, asks boolean, happened timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT m.id, CASE WHEN m.times = 1 THEN m.mark ELSE pgmnemo._text_key(m.content, m.topic, m.role) END,
           m.times = 1, m.times > 1 AND pgmnemo._is_question(m.content), m.happened
      FROM (SELECT l.id, l.content, l.topic, l.role, coalesce(l.occurred_at, l.stored_at) AS happened, w.mark,
                   count(*) OVER (PARTITION BY w.mark) AS times
              FROM (SELECT DISTINCT unnest(ids) AS id) u
              JOIN pgmnemo.lesson l ON l.tenant_id = scope.tenant AND l.id = u.id
             CROSS JOIN LATERAL (SELECT pgmnemo._lexemes_hash(l.content, l.lexemes, l.token_count)) AS w (mark)) m;
END
$$;

COMMENT ON FUNCTION pgmnemo._text_keys IS 'for each of these lessons a number that those which say the same share; alone: no other has its lexemes; asks: it is one of several and a question (pgmnemo._is_question)';
