-- Return the tests of pgmnemo._recallable and of the scope, one by one.
CREATE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'recallable', t.item, CASE WHEN t.passed THEN 'yes' ELSE 'no' END, NULL::float8, NULL::float8, t.note
      FROM (VALUES
            ('scope', pgmnemo._in_scope((l).project_id, scope),
             format('lesson in project %s, recall in %s', (l).project_id,
                    CASE WHEN (scope).first_project = (scope).last_project THEN (scope).first_project::text
                         WHEN ((scope).filter).projects IS NOT NULL
                         THEN array_to_string(((scope).filter).projects, ', ')
                         ELSE 'the whole tenant' END)),
            ('active', (l).active, CASE WHEN NOT (l).active THEN 'softly forgotten' END),
            ('role', (scope).role IS NULL OR coalesce((l).role = (scope).role, false),
             format('lesson %s, recall %s', coalesce(quote_literal((l).role), 'without role'),
                    coalesce(quote_literal((scope).role), 'of any role'))),
            ('happened', coalesce(coalesce((l).occurred_at, (l).stored_at) <= (scope).valid_at, true),
             format('%s, recall valid at %s', coalesce((l).occurred_at, (l).stored_at),
                    coalesce((scope).valid_at::text, 'any time'))),
            ('not expired', coalesce((scope).moment < (l).expires_at, true),
             format('expires %s, recall as of %s', coalesce((l).expires_at::text, 'never'), (scope).moment)),
            ('not superseded', CASE WHEN (scope).known_at IS NULL
                                    THEN coalesce((scope).moment < (l).superseded_at, true)
                                    ELSE pgmnemo._held_as_known(l, scope) END,
             format('superseded %s, recall as of %s, by what was known %s', coalesce((l).superseded_at::text, 'never'),
                    (scope).moment, coalesce((scope).known_at::text, 'last'))),
            ('filter', (scope).filtered IS NOT TRUE OR pgmnemo._passes_filter(l, (scope).filter),
             CASE WHEN (scope).filtered IS NOT TRUE THEN 'none' END),
            ('gate', (scope).gate <> 'enforce' OR (l).commit_sha IS NOT NULL OR (l).artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', (scope).gate,
                    CASE WHEN coalesce((l).commit_sha, (l).artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
