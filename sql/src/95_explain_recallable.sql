-- The tests of pgmnemo._recallable and of the scope, one by one.
CREATE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, project uuid, asked_role text, valid_time timestamptz, gate text)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'recallable', t.item, CASE WHEN t.passed THEN 'yes' ELSE 'no' END, NULL::float8, NULL::float8, t.note
      FROM (VALUES
            ('scope', project IS NULL OR l.project_id = project,
             format('lesson in project %s, recall in %s', l.project_id, coalesce(project::text, 'the whole tenant'))),
            ('active', l.active, CASE WHEN NOT l.active THEN 'softly forgotten' END),
            ('role', asked_role IS NULL OR coalesce(l.role = asked_role, false),
             format('lesson %s, recall %s', coalesce(quote_literal(l.role), 'without role'),
                    coalesce(quote_literal(asked_role), 'of any role'))),
            ('happened', coalesce(coalesce(l.occurred_at, l.stored_at) <= valid_time, true),
             format('%s, recall valid at %s', coalesce(l.occurred_at, l.stored_at), coalesce(valid_time::text, 'any time'))),
            ('not expired', coalesce(valid_time < l.expires_at, true),
             format('expires %s, recall valid at %s', coalesce(l.expires_at::text, 'never'), coalesce(valid_time::text, 'any time'))),
            ('gate', gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', gate,
                    CASE WHEN coalesce(l.commit_sha, l.artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
