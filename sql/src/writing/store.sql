-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed:
-- writers who all keep to this sequence wait for one another but never in a circle. Only a key that is there already is
-- passed over: an id that is taken, by a sequence that was set back, is an error.
CREATE FUNCTION pgmnemo._store(tenant uuid, lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings := pgmnemo._settings();
    large uuid[];
    inserted bigint[];
    changed bigint[];
    outcomes text[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    PERFORM pgmnemo._check_provenance(lessons, s.gate_strict);
    large := pgmnemo._indexed_projects(tenant, lessons, s.exact_scan_limit);
    IF cardinality(large) > 0 AND NOT pgmnemo._claim_graph(tenant) THEN
        large := '{}';
    END IF;

    WITH fresh AS (
        INSERT INTO pgmnemo.lesson (
               tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at, expires_at,
               commit_sha, artifact_hash, verified_at, position)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at,
               i.position
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    PERFORM pgmnemo._write_passages(tenant, inserted, lessons, large);

    IF cardinality(inserted) < cardinality(lessons) THEN
        SELECT array_agg(l.id), array_agg(CASE WHEN l.active THEN 'updated' ELSE 'restored' END) INTO changed, outcomes
          FROM pgmnemo.lesson l
          JOIN unnest(lessons) i USING (project_id, external_id)
         WHERE l.tenant_id = tenant AND l.id <> ALL (inserted)
           AND ((l.role, l.topic, l.content, l.importance, l.metadata, l.occurred_at, l.expires_at,
                 l.commit_sha, l.artifact_hash, l.verified_at, l.position, l.active)
                IS DISTINCT FROM
                (i.role, i.topic, i.content, coalesce(i.importance, 3::smallint), coalesce(i.metadata, '{}'),
                 i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at, i.position, true)
                OR pgmnemo._passages_differ(tenant, l.id, i.embedding, i.passages, i.passage_embeddings));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = coalesce(i.importance, 3::smallint),
               metadata = coalesce(i.metadata, '{}'), occurred_at = i.occurred_at, expires_at = i.expires_at,
               commit_sha = i.commit_sha, artifact_hash = i.artifact_hash, verified_at = i.verified_at,
               position = i.position, active = true
          FROM unnest(lessons) i
         WHERE l.tenant_id = tenant AND l.id = ANY (changed)
           AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._clear_passages(tenant, changed, lessons);
        PERFORM pgmnemo._write_passages(tenant, changed, lessons, large);
    END IF;

    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM ROWS FROM (unnest(lessons)) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position, ordinal)
      LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id
                        AND l.external_id = i.external_id
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;
