-- The one write path. Keys are written in order, so that two writers of the same keys wait for one another
-- instead of deadlocking; outcomes are told by a second statement, which sees what a rival wrote meanwhile.
CREATE FUNCTION pgmnemo.store_lessons(lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    large uuid[];
    hidden bigint[];
    written bigint[];
    outcomes text[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    PERFORM pgmnemo._check_provenance(lessons, s ->> 'gate_strict');
    large := pgmnemo._indexed_projects(tenant, lessons, (s ->> 'exact_scan_limit')::float8::bigint);
    IF EXISTS (SELECT FROM pgmnemo.lesson l JOIN unnest(lessons) i USING (project_id, external_id)
                WHERE l.tenant_id = tenant) THEN
        PERFORM pgmnemo._lock_postings(tenant);
        hidden := ARRAY(SELECT l.id FROM pgmnemo.lesson l JOIN unnest(lessons) i USING (project_id, external_id)
                         WHERE l.tenant_id = tenant AND NOT l.active);
    END IF;

    WITH stored AS (
        INSERT INTO pgmnemo.lesson AS l (
               tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at, expires_at,
               embedding, commit_sha, artifact_hash, verified_at, indexed)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.embedding, i.commit_sha, i.artifact_hash,
               i.verified_at, i.embedding IS NOT NULL AND i.project_id = ANY (large)
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO UPDATE
           SET role = excluded.role, topic = excluded.topic, content = excluded.content,
               importance = excluded.importance, metadata = excluded.metadata,
               occurred_at = excluded.occurred_at, expires_at = excluded.expires_at,
               embedding = excluded.embedding, commit_sha = excluded.commit_sha,
               artifact_hash = excluded.artifact_hash, verified_at = excluded.verified_at, active = true,
               indexed = l.indexed AND excluded.embedding IS NOT NULL OR excluded.indexed
         WHERE (l.role, l.topic, l.content, l.importance, l.metadata, l.occurred_at, l.expires_at, l.embedding,
                l.commit_sha, l.artifact_hash, l.verified_at, l.active)
               IS DISTINCT FROM
               (excluded.role, excluded.topic, excluded.content, excluded.importance, excluded.metadata,
                excluded.occurred_at, excluded.expires_at, excluded.embedding, excluded.commit_sha,
                excluded.artifact_hash, excluded.verified_at, true)
        RETURNING l.id, CASE WHEN xmax = 0 THEN 'inserted' WHEN l.id = ANY (hidden) THEN 'restored' ELSE 'updated' END
                  AS outcome
    )
    SELECT array_agg(t.id), array_agg(t.outcome) INTO written, outcomes FROM stored t;

    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, c, e, r, t, m, d, o, x, s, a, v, ordinal)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
      LEFT JOIN unnest(written, outcomes) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lessons(pgmnemo.lesson_input[]) IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, same attributes: nothing is written); updated (same key, other attributes); restored (softly forgotten before)';
